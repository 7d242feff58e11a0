// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/kernel_interface.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/file_handle.hpp"
#include "base/own_file.hpp"
#include "base/suggestion.hpp"

namespace parshall {
namespace {

ifreq request_for(const std::string& name) {
  ifreq request{};
  std::memcpy(request.ifr_name, name.data(), std::min(name.size(), sizeof request.ifr_name - 1));
  return request;
}

template <class Visit>
void for_each_interface(Visit visit) {
  const std::unique_ptr<struct if_nameindex, decltype(&if_freenameindex)> list(::if_nameindex(), &if_freenameindex);
  for (const auto* entry = list.get(); entry && entry->if_index != 0; ++entry) visit(entry->if_name, entry->if_index);
}

/// Counts receive queues by ethtool, because /sys may show another network namespace.
std::uint32_t receive_queues(int socket, const std::string& name) {
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  ifreq request = request_for(name);
  request.ifr_data = reinterpret_cast<char*>(&channels);
  if (::ioctl(socket, SIOCETHTOOL, &request) != 0) return 1;
  return std::max<std::uint32_t>(1, channels.combined_count + channels.rx_count);
}

/// Returns a number that is unique among all sockets since boot, or 0 if `socket` is not a socket.
std::uint64_t cookie_of(int socket) noexcept {
  std::uint64_t cookie = 0;
  socklen_t bytes = sizeof cookie;
  return ::getsockopt(socket, SOL_SOCKET, SO_COOKIE, &cookie, &bytes) == 0 ? cookie : 0;
}

KernelInterface described(const std::string& name, int index) {
  KernelInterface found{.name = name, .index = index};
  const FileHandle any(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  ifreq request = request_for(name);
  if (::ioctl(any.get(), SIOCGIFFLAGS, &request) == 0) {
    found.is_up = (request.ifr_flags & IFF_UP) != 0;
    found.promiscuous_flag = (request.ifr_flags & IFF_PROMISC) != 0;
  }
  request = request_for(name);
  if (::ioctl(any.get(), SIOCGIFMTU, &request) == 0) found.mtu = static_cast<std::uint32_t>(request.ifr_mtu);
  request = request_for(name);
  if (::ioctl(any.get(), SIOCGIFHWADDR, &request) == 0) found.hardware = request.ifr_hwaddr.sa_family;
  found.rx_queues = receive_queues(any.get(), name);
  return found;
}

}  // namespace

std::vector<std::string> interfaces_here() {
  std::vector<std::string> names;
  for_each_interface([&names](const char* name, unsigned) { names.emplace_back(name); });
  return names;
}

Result<KernelInterface> KernelInterface::find(const std::string& name) {
  const unsigned index = name.size() < IFNAMSIZ ? ::if_nametoindex(name.c_str()) : 0;
  if (index == 0) {
    return Error{
        fmt::format("cannot open {}: no such interface here{}; a PCI device is named like "
                    "0000:03:00.0, a virtual one like vdev:net_null0",
                    name, suggestion(name, interfaces_here(), "ip link"))};
  }
  if (auto error = capture_problem(name)) return *std::move(error);
  const KernelInterface found = described(name, static_cast<int>(index));
  if (!found.is_up)
    return Error{fmt::format("cannot open {}: it is down; bring it up with: ip link set {} up", name, name)};
  return found;
}

std::vector<KernelInterface> KernelInterface::all() {
  std::vector<KernelInterface> interfaces;
  for_each_interface([&](const char* its_name, unsigned its_index) {
    interfaces.push_back(described(its_name, static_cast<int>(its_index)));
  });
  return interfaces;
}

std::optional<Error> capture_problem(const std::string& name) {
  const FileHandle raw(::socket(AF_PACKET, SOCK_RAW, 0));
  if (raw) return std::nullopt;
  if (errno == EPERM || errno == EACCES) {
    const std::filesystem::path own = own_file();  // python, in its package: that gets no rights
    const std::string once =
        own.filename() == "parshall"
            ? fmt::format(", or once: sudo setcap cap_net_raw,cap_net_admin,cap_ipc_lock+ep '{}'", own.string())
            : "";
    return Error{fmt::format("cannot open {}: no right to capture (CAP_NET_RAW); run as root{}", name, once)};
  }
  return Error{fmt::format("cannot open {}: packet socket: {}", name, std::strerror(errno))};
}

bool has_capability(int capability) noexcept {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  return (data[capability / 32].effective >> (capability % 32)) & 1;
}

std::optional<Error> allow_locked_memory(std::uint64_t bytes) {
  rlimit limit{};
  if (has_capability(CAP_IPC_LOCK) || ::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes) return std::nullopt;
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= bytes) {
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_MEMLOCK, &limit) == 0) return std::nullopt;
  }
  return Error{
      fmt::format("{} MiB of memory must be locked and the limit is {} MiB; raise it with: ulimit -l unlimited "
                  "(or LimitMEMLOCK=infinity in the systemd unit, or CAP_IPC_LOCK)",
                  (bytes >> 20) + 1, limit.rlim_max >> 20)};
}

void restore_promiscuous_flag(const KernelInterface& interface) noexcept {
  if (!interface.promiscuous_flag) return;
  const FileHandle any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = request_for(interface.name);
  if (any.get() < 0 || ::ioctl(any.get(), SIOCGIFFLAGS, &request) != 0) return;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_PROMISC);
  ::ioctl(any.get(), SIOCSIFFLAGS, &request);
}

LinkState::LinkState(const KernelInterface& interface)
    : name_(interface.name), socket_(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = interface.index;
  ::bind(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

LinkState::~LinkState() {
  if (socket_ >= 0) ::close(socket_);
}

bool LinkState::is_up() const noexcept {
  constexpr short kUp = IFF_UP | IFF_RUNNING;
  ifreq request = request_for(name_);
  return ::ioctl(socket_, SIOCGIFFLAGS, &request) != 0 || (request.ifr_flags & kUp) == kUp;
}

/// Uses ethtool's old call, which virtual devices also answer.
std::optional<double> LinkState::line_bps() const noexcept {
  ethtool_cmd settings{};
  settings.cmd = ETHTOOL_GSET;
  ifreq request = request_for(name_);
  request.ifr_data = reinterpret_cast<char*>(&settings);
  if (::ioctl(socket_, SIOCETHTOOL, &request) != 0) return std::nullopt;
  const std::uint32_t mbps = std::uint32_t{settings.speed_hi} << 16 | settings.speed;
  return mbps == 0 || mbps == static_cast<std::uint32_t>(SPEED_UNKNOWN) || mbps == UINT16_MAX
             ? std::nullopt
             : std::optional(mbps * 1e6);
}

bool ignore_all(int socket) noexcept {
  sock_filter program[] = {{BPF_RET | BPF_K, 0, 0, 0}};
  const sock_fprog filter{.len = std::size(program), .filter = program};
  return ::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

bool ignore_outgoing(int socket) noexcept {
  constexpr auto kPacketType = static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE);
  sock_filter program[] = {{BPF_LD | BPF_B | BPF_ABS, 0, 0, kPacketType},
                           {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, PACKET_OUTGOING},
                           {BPF_RET | BPF_K, 0, 0, 0},
                           {BPF_RET | BPF_K, 0, 0, ~std::uint32_t{0}}};
  const sock_fprog filter{.len = std::size(program), .filter = program};
  return ::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

PromiscuousMembership::PromiscuousMembership(int interface_index) noexcept
    : socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) {  // protocol 0: the socket receives nothing
  packet_mreq request{};
  request.mr_ifindex = interface_index;
  request.mr_type = PACKET_MR_PROMISC;
  granted_ = socket_ >= 0 && ::setsockopt(socket_, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) == 0;
}

PromiscuousMembership::~PromiscuousMembership() {
  if (socket_ >= 0) ::close(socket_);
}

std::vector<int> open_sockets(int family) {
  std::vector<int> sockets;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"), &::closedir);
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
    const std::string_view name(entry->d_name);
    int fd = -1;
    if (std::from_chars(name.begin(), name.end(), fd).ec != std::errc{}) continue;
    int domain = 0;
    socklen_t bytes = sizeof domain;
    if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == family) sockets.push_back(fd);
  }
  std::ranges::sort(sockets);
  return sockets;
}

SocketDrops::SocketDrops(int family, int socket) : family_(family), socket_(socket), cookie_(cookie_of(socket)) {}

SocketCounts SocketDrops::read() noexcept {
  const std::scoped_lock lock(mutex_);
  if (!attached_) return total_;
  if (family_ == AF_PACKET) {
    tpacket_stats since_last{};
    socklen_t bytes = sizeof since_last;
    if (::getsockopt(socket_, SOL_PACKET, PACKET_STATISTICS, &since_last, &bytes) == 0) {
      total_.dropped = total_.dropped.value_or(0) + since_last.tp_drops;
      total_.received = total_.received.value_or(0) + since_last.tp_packets - since_last.tp_drops;
    }
  } else {
    xdp_statistics since_opened{};
    socklen_t bytes = sizeof since_opened;
    // rx_dropped includes drops due to an empty fill ring. Kernels before 5.9 lack rx_ring_full.
    if (::getsockopt(socket_, SOL_XDP, XDP_STATISTICS, &since_opened, &bytes) == 0) {
      total_.dropped = since_opened.rx_dropped + since_opened.rx_ring_full;
    }
  }
  return total_;
}

void SocketDrops::detach() noexcept {
  read();
  const std::scoped_lock lock(mutex_);
  attached_ = false;
}

void SocketDrops::close_leftover() noexcept {
  if (cookie_ != 0 && cookie_of(socket_) == cookie_) ::close(socket_);
}

}  // namespace parshall
