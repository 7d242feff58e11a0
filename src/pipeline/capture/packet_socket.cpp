// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/packet_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/file_handle.hpp"
#include "base/realtime.hpp"
#include "pipeline/capture/interface_watch.hpp"
#include "pipeline/capture/kernel_interface.hpp"
#include "pipeline/capture/packet_ring.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kMostOfAFrame = 2048 - PacketRing::kFrameOffset;  ///< captured
constexpr std::size_t kVlanTagBytes = 4;

/// The ring as it lies in memory, for as long as this lives.
class MappedRing {
 public:
  MappedRing() = default;
  MappedRing(int socket, const PacketRing& shape) : shape_(shape) {
    void* const at = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, socket, 0);
    if (at != MAP_FAILED) at_ = static_cast<std::uint8_t*>(at);
  }
  ~MappedRing() {
    if (at_ != nullptr) ::munmap(at_, bytes());
  }
  MappedRing(const MappedRing&) = delete;
  MappedRing& operator=(const MappedRing&) = delete;

  bool mapped() const noexcept { return at_ != nullptr; }
  std::uint32_t frames() const noexcept { return shape_.frames; }
  std::size_t bytes() const noexcept { return std::size_t{shape_.frames} * shape_.frame_bytes; }
  tpacket2_hdr& frame(std::uint32_t i) const noexcept {
    return *reinterpret_cast<tpacket2_hdr*>(at_ + std::size_t{i} * shape_.frame_bytes);
  }

 private:
  PacketRing shape_;
  std::uint8_t* at_ = nullptr;
};

/// What the sources of an interface share with it: a socket, its counters.
struct Queue {
  std::string interface;
  FileHandle socket;
  std::optional<MappedRing> ring;
  std::optional<SocketDrops> kernel;
  std::atomic<std::uint64_t> joined{0};
  LinkType link_type = LinkType::ethernet;
  std::uint32_t longest_frame = UINT32_MAX;  ///< that the link's MTU allows, with two VLAN tags

  std::vector<LinkType> link_types() const {
    return link_type == LinkType::raw ? std::vector{LinkType::ipv4, LinkType::ipv6, LinkType::linux_sll2}
                                      : std::vector{link_type};
  }

  Counters counters() noexcept {
    const SocketCounts counts = kernel->read();
    Counters counters;
    counters.set(Counter::nic_received, counts.received);
    counters.set(Counter::nic_missed, counts.dropped);
    counters.set(Counter::joined, joined.load(std::memory_order_relaxed));
    return counters;
  }
};

class RingSource final : public PacketSource {
 public:
  explicit RingSource(std::shared_ptr<Queue> queue)
      : queue_(std::move(queue)), ring_(*queue_->ring), watch_(queue_->socket.get()) {}

  std::size_t poll(std::span<RawPacket> out) noexcept override {
    give_back(std::exchange(held_[0], held_[1]));  // those of two polls ago
    const std::size_t most = std::min<std::size_t>(out.size(), ring_.frames() - held_[0]);
    std::uint32_t taken = 0;
    for (; taken < most; ++taken) {
      tpacket2_hdr& frame = ring_.frame(next_);
      if ((std::atomic_ref(frame.tp_status).load(std::memory_order_acquire) & TP_STATUS_USER) == 0) break;
      out[taken] = packet_in(frame);
      next_ = next_ + 1 == ring_.frames() ? 0 : next_ + 1;
    }
    held_[1] = taken;
    if ((taken == 0 && most != 0) || watch_.state() == InputState::down) [[unlikely]]
      look(taken);
    return taken;
  }

  bool exhausted() const noexcept override { return exhausted_; }
  std::vector<LinkType> link_types() const override { return queue_->link_types(); }
  InputState state() const noexcept override { return watch_.state(); }
  std::optional<Error> damage() const override {
    if (watch_.state() != InputState::gone) return std::nullopt;
    return interface_gone(queue_->interface);
  }

  bool end_intake() noexcept override { return ignore_all(queue_->socket.get()); }
  bool lossless() const noexcept override { return false; }

  /// The kernel stamps a packet a little before it can be seen.
  std::uint64_t now_ns() noexcept override {
    constexpr std::uint64_t kMarginNs = 1'000'000;
    return realtime_ns() - kMarginNs;
  }

  Counters counters() noexcept override { return queue_->counters(); }

 private:
  /// What came before the interface went is still in the ring: a poll after that ends it.
  void look(std::uint32_t taken) noexcept {
    if (watch_.state() == InputState::gone) exhausted_ = taken == 0;
    watch_.look();
  }

  void give_back(std::uint32_t frames) noexcept {
    for (; frames != 0; --frames) {
      std::atomic_ref(ring_.frame(oldest_).tp_status).store(TP_STATUS_KERNEL, std::memory_order_release);
      oldest_ = oldest_ + 1 == ring_.frames() ? 0 : oldest_ + 1;
    }
  }

  RawPacket packet_in(tpacket2_hdr& frame) noexcept {
    auto* data = reinterpret_cast<std::uint8_t*>(&frame) + frame.tp_mac;
    RawPacket packet{.data = data,
                     .time_ns = frame.tp_sec * std::uint64_t{1'000'000'000} + frame.tp_nsec,
                     .captured_bytes = frame.tp_snaplen,
                     .wire_bytes = frame.tp_len,
                     .link_type = queue_->link_type};
    if ((frame.tp_status & TP_STATUS_VLAN_VALID) != 0 && packet.link_type == LinkType::ethernet) [[unlikely]]
      packet = with_tag(frame, packet, data);
    else if (packet.link_type == LinkType::raw) [[unlikely]]
      packet = with_protocol(frame, packet, data);
    if (packet.wire_bytes > queue_->longest_frame) [[unlikely]]
      queue_->joined.store(queue_->joined.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return packet;
  }

  /// The kernel keeps a VLAN tag beside the frame. Before the frame there is room.
  static RawPacket with_tag(const tpacket2_hdr& frame, RawPacket packet, std::uint8_t* data) noexcept {
    constexpr std::size_t kAddresses = 2 * ETH_ALEN;
    static_assert(PacketRing::kFrameOffset >= sizeof(tpacket2_hdr) + kVlanTagBytes);
    if (packet.captured_bytes < kAddresses) return packet;
    std::memmove(data - kVlanTagBytes, data, kAddresses);
    data -= kVlanTagBytes;
    put_be16(data + kAddresses,
             (frame.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ? frame.tp_vlan_tpid : std::uint16_t{ETH_P_8021Q});
    put_be16(data + kAddresses + 2, frame.tp_vlan_tci);
    packet.data = data;
    packet.captured_bytes += kVlanTagBytes;
    packet.wire_bytes += kVlanTagBytes;
    return packet;
  }

  /// Without a link-layer header the kernel says beside the packet what it is. What is not IP gets the header of a
  /// cooked capture. Source: LINKTYPE_LINUX_SLL2, tcpdump.org.
  static RawPacket with_protocol(const tpacket2_hdr& frame, RawPacket packet, std::uint8_t* data) noexcept {
    const auto& from = *reinterpret_cast<const sockaddr_ll*>(reinterpret_cast<const std::uint8_t*>(&frame) +
                                                             TPACKET_ALIGN(sizeof frame));
    const std::uint16_t protocol = ::ntohs(from.sll_protocol);
    if (protocol == ETH_P_IP || protocol == ETH_P_IPV6) {
      packet.link_type = protocol == ETH_P_IP ? LinkType::ipv4 : LinkType::ipv6;
      return packet;
    }
    constexpr std::size_t kCookedBytes = 20;
    static_assert(TPACKET_ALIGN(TPACKET2_HDRLEN) + 16 >= TPACKET2_HDRLEN + kCookedBytes, "room before a packet");
    data -= kCookedBytes;
    std::memset(data, 0, kCookedBytes);
    put_be16(data, protocol);
    packet.data = data;
    packet.captured_bytes += kCookedBytes;
    packet.wire_bytes += kCookedBytes;
    packet.link_type = LinkType::linux_sll2;
    return packet;
  }

  static void put_be16(std::uint8_t* at, std::uint16_t value) noexcept {
    at[0] = static_cast<std::uint8_t>(value >> 8);
    at[1] = static_cast<std::uint8_t>(value);
  }

  std::shared_ptr<Queue> queue_;
  const MappedRing& ring_;
  InterfaceWatch watch_;
  bool exhausted_ = false;
  std::uint32_t next_ = 0, oldest_ = 0;
  std::uint32_t held_[2] = {0, 0};  ///< frames handed out by the poll before the last one, and by that
};

class Sockets final : public PacketSocket {
 public:
  Sockets(std::vector<std::shared_ptr<Queue>> queues, KernelInterface interface, std::string description)
      : queues_(std::move(queues)),
        interface_(std::move(interface)),
        promiscuous_(interface_.index),
        description_(std::move(description)) {
    if (!promiscuous_.granted()) description_ += "; promiscuous mode was refused: only this host's packets";
  }

  std::optional<Error> listen() override {
    for (const auto& queue : queues_)
      if (!open_filter(queue->socket.get()))
        return Error{fmt::format("cannot open {}: a filter: {}", interface_.name, std::strerror(errno))};
    return std::nullopt;
  }

  std::vector<std::unique_ptr<PacketSource>> take_queues() override {
    std::vector<std::unique_ptr<PacketSource>> sources;
    if (!std::exchange(taken_, true))
      for (const auto& queue : queues_) sources.push_back(std::make_unique<RingSource>(queue));
    return sources;
  }

  Counters counters() override {
    Counters total;
    for (const auto& queue : queues_) total += queue->counters();
    return total;
  }

  std::vector<LinkType> link_types() const override { return queues_.front()->link_types(); }

  std::uint64_t memory_bytes() const override {
    std::uint64_t bytes = 0;
    for (const auto& queue : queues_) bytes += queue->ring->bytes();
    return bytes;
  }

  std::string description() const override { return description_; }

 private:
  /// On the loopback interface whatever is sent comes in, too: it would be seen twice.
  bool open_filter(int socket) const noexcept {
    constexpr int kNone = 0;
    return interface_.hardware == ARPHRD_LOOPBACK
               ? ignore_outgoing(socket)
               : ::setsockopt(socket, SOL_SOCKET, SO_DETACH_FILTER, &kNone, sizeof kNone) == 0;
  }

  std::vector<std::shared_ptr<Queue>> queues_;
  KernelInterface interface_;
  PromiscuousMembership promiscuous_;
  std::string description_;
  bool taken_ = false;
};

/// Of frames as they come with their link-layer header; nothing of interfaces that have a header we do not read.
std::optional<LinkType> link_type_of(std::uint16_t hardware) noexcept {
  switch (hardware) {
    case ARPHRD_ETHER:
    case ARPHRD_LOOPBACK:
      return LinkType::ethernet;
    case ARPHRD_IEEE80211:
      return LinkType::ieee802_11;
    case ARPHRD_IEEE80211_PRISM:
      return LinkType::ieee802_11_prism;
    case ARPHRD_IEEE80211_RADIOTAP:
      return LinkType::ieee802_11_radiotap;
    default:
      return std::nullopt;
  }
}

/// Opens an interface step by step.
class Opening {
 public:
  explicit Opening(const PacketSocketOptions& options) : options_(options) {}

  Result<std::unique_ptr<PacketSocket>> run() {
    if (options_.queues == 0 || options_.descriptors == 0) return Error{"queues and descriptors must be at least 1"};
    auto found = KernelInterface::find(options_.interface);
    if (!found) return found.error();
    interface_ = *std::move(found);
    link_type_ = link_type_of(interface_.hardware);
    std::vector<std::shared_ptr<Queue>> queues;
    for (std::uint16_t i = 0; i < options_.queues; ++i) {
      queues.push_back(std::make_shared<Queue>());
      if (auto error = make_ring(*queues.back())) return *std::move(error);
      if (auto error = bind(*queues.back())) return *std::move(error);
    }
    const std::uint32_t frames = queues.front()->ring->frames();
    return std::unique_ptr<PacketSocket>(new Sockets(std::move(queues), interface_, description(frames)));
  }

 private:
  using Step = std::optional<Error>;

  Error failed(std::string_view what) const {
    return {fmt::format("cannot open {}: {}: {}", interface_.name, what, std::strerror(errno))};
  }

  /// Of a link-layer header that we do not read the kernel shows nothing: packets begin with their IP header.
  Step make_ring(Queue& queue) {
    queue.interface = interface_.name;
    queue.socket = FileHandle(::socket(AF_PACKET, (link_type_ ? SOCK_RAW : SOCK_DGRAM) | SOCK_CLOEXEC, 0));
    if (!queue.socket) return failed("packet socket");
    const int socket = queue.socket.get();
    constexpr int kVersion = TPACKET_V2;
    if (::setsockopt(socket, SOL_PACKET, PACKET_VERSION, &kVersion, sizeof kVersion) != 0) return failed("its ring");
    const PacketRing shape =
        PacketRing::of(std::min(interface_.mtu + PacketRing::kLinkOverhead, kMostOfAFrame), options_.descriptors);
    const tpacket_req request{.tp_block_size = shape.block_bytes,
                              .tp_block_nr = shape.frames / (shape.block_bytes / shape.frame_bytes),
                              .tp_frame_size = shape.frame_bytes,
                              .tp_frame_nr = shape.frames};
    if (::setsockopt(socket, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0)
      return failed(fmt::format("a ring of {} packets (ask for fewer with --descriptors)", shape.frames));
    queue.ring.emplace(socket, shape);
    if (!queue.ring->mapped()) return failed("mapping its ring");
    queue.kernel.emplace(AF_PACKET, socket);
    queue.link_type = link_type_.value_or(LinkType::raw);
    if (interface_.mtu != 0) queue.longest_frame = interface_.mtu + PacketRing::kLinkOverhead;
    return std::nullopt;
  }

  /// Deaf: until all queues share the traffic each would be given all of it.
  Step bind(Queue& queue) {
    const int socket = queue.socket.get();
    if (!ignore_all(socket)) return failed("a filter");
    const sockaddr_ll address{
        .sll_family = AF_PACKET, .sll_protocol = ::htons(ETH_P_ALL), .sll_ifindex = interface_.index};
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return failed("listening");
    if (options_.queues == 1) return std::nullopt;
    int group = group_ ? *group_ | PACKET_FANOUT_HASH << 16 : (PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_UNIQUEID) << 16;
    if (::setsockopt(socket, SOL_PACKET, PACKET_FANOUT, &group, sizeof group) != 0)
      return failed("sharing its packets among queues");
    if (group_) return std::nullopt;
    socklen_t bytes = sizeof group;
    if (::getsockopt(socket, SOL_PACKET, PACKET_FANOUT, &group, &bytes) != 0) return failed("its queues");
    group_ = group & 0xffff;
    return std::nullopt;
  }

  std::string description(std::uint32_t frames) const {
    return fmt::format("{}: AF_PACKET, {} queue{} of {} packets, time from the kernel{}", interface_.name,
                       options_.queues, options_.queues == 1 ? "" : "s", frames,
                       interface_.hardware == ARPHRD_LOOPBACK ? "" : "; what this host sends is seen too");
  }

  const PacketSocketOptions& options_;
  KernelInterface interface_;
  std::optional<LinkType> link_type_;
  std::optional<int> group_;  ///< that queues share packets in
};

}  // namespace

Result<std::unique_ptr<PacketSocket>> PacketSocket::open(const PacketSocketOptions& options) {
  return Opening(options).run();
}

}  // namespace parshall
