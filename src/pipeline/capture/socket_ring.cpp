// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/socket_ring.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/realtime.hpp"
#include "pipeline/capture/interface_watch.hpp"

namespace parshall {
namespace {

constexpr std::size_t kVlanTagBytes = 4;

void put_be16(std::uint8_t* at, std::uint16_t value) noexcept {
  at[0] = static_cast<std::uint8_t>(value >> 8);
  at[1] = static_cast<std::uint8_t>(value);
}

void add_one(std::atomic<std::uint64_t>& count) noexcept {
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

const sockaddr_ll& address_of(const tpacket2_hdr& frame) noexcept {
  return *reinterpret_cast<const sockaddr_ll*>(reinterpret_cast<const std::uint8_t*>(&frame) +
                                               TPACKET_ALIGN(sizeof frame));
}

/// Restores a VLAN tag that the kernel keeps beside the frame. There is room before the frame.
RawPacket with_tag(const tpacket2_hdr& frame, RawPacket packet) noexcept {
  constexpr std::size_t kAddresses = 2 * ETH_ALEN;
  static_assert(PacketRing::kFrameOffset >= sizeof(tpacket2_hdr) + kVlanTagBytes);
  auto* data = const_cast<std::uint8_t*>(packet.data);  // points into the ring
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

/// Adds the protocol of a packet without link-layer header, which the kernel states beside it. Packets other than IP
/// get the header of a cooked capture. Source: LINKTYPE_LINUX_SLL2, tcpdump.org.
RawPacket with_protocol(const tpacket2_hdr& frame, RawPacket packet) noexcept {
  const std::uint16_t protocol = ::ntohs(address_of(frame).sll_protocol);
  if (protocol == ETH_P_IP || protocol == ETH_P_IPV6) {
    packet.link_type = protocol == ETH_P_IP ? LinkType::ipv4 : LinkType::ipv6;
    return packet;
  }
  constexpr std::size_t kCookedBytes = 20;
  static_assert(TPACKET_ALIGN(TPACKET2_HDRLEN) + 16 >= TPACKET2_HDRLEN + kCookedBytes, "room before a packet");
  auto* const data = const_cast<std::uint8_t*>(packet.data) - kCookedBytes;  // points into the ring
  std::memset(data, 0, kCookedBytes);
  put_be16(data, protocol);
  packet.data = data;
  packet.captured_bytes += kCookedBytes;
  packet.wire_bytes += kCookedBytes;
  packet.link_type = LinkType::linux_sll2;
  return packet;
}

/// Removes a link-layer header that is not decoded here.
RawPacket without_header(const tpacket2_hdr& frame, RawPacket packet) noexcept {
  const std::uint32_t header = frame.tp_net > frame.tp_mac ? frame.tp_net - frame.tp_mac : 0u;
  packet.data += header;
  packet.captured_bytes -= std::min(header, packet.captured_bytes);
  packet.wire_bytes -= std::min(header, packet.wire_bytes);
  return packet;
}

class RingSource final : public PacketSource {
 public:
  explicit RingSource(std::shared_ptr<SocketQueue> queue)
      : queue_(std::move(queue)),
        ring_(*queue_->ring),
        watch_(queue_->socket.get(), queue_->interfaces->several()),
        longest_frame_(queue_->interfaces->is_one() ? queue_->interfaces->longest_frame(0).value_or(UINT32_MAX)
                                                    : UINT32_MAX) {}

  std::size_t poll(std::span<RawPacket> out) noexcept override {
    give_back(std::exchange(held_[0], held_[1]));  // packets of two polls ago
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

  std::optional<int> descriptor() const noexcept override { return queue_->socket.get(); }
  bool exhausted() const noexcept override { return exhausted_; }
  std::vector<LinkType> link_types() const override { return queue_->link_types(); }
  InputState state() const noexcept override { return watch_.state(); }
  std::optional<Error> damage() const override {
    if (watch_.state() != InputState::gone) return std::nullopt;
    return interface_gone(queue_->named);
  }

  bool end_intake() noexcept override { return ignore_all(queue_->socket.get()); }
  bool lossless() const noexcept override { return false; }

  /// Returns the time, minus a margin: the kernel stamps a packet a little before it becomes visible.
  std::uint64_t now_ns() noexcept override {
    constexpr std::uint64_t kMarginNs = 1'000'000;
    return realtime_ns() - kMarginNs;
  }

  Counters counters() noexcept override { return queue_->counters(); }

 private:
  /// Packets that arrived before the interface disappeared are still in the ring, so only an empty poll after that ends
  /// the source.
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
    RawPacket packet{.data = reinterpret_cast<const std::uint8_t*>(&frame) + frame.tp_mac,
                     .time_ns = frame.tp_sec * std::uint64_t{1'000'000'000} + frame.tp_nsec,
                     .captured_bytes = frame.tp_snaplen,
                     .wire_bytes = frame.tp_len,
                     .link_type = queue_->link_type,
                     .interface = 0};
    std::uint32_t longest_frame = longest_frame_;
    if (queue_->has_several()) [[unlikely]] {
      packet.interface = queue_->interfaces->number_of(address_of(frame).sll_ifindex);
      packet.link_type = link_type_of(address_of(frame).sll_hatype).value_or(LinkType::raw);
      longest_frame = queue_->interfaces->longest_frame(packet.interface).value_or(UINT32_MAX);
      add_one(queue_->packets[packet.interface]);
    }
    if ((frame.tp_status & TP_STATUS_VLAN_VALID) != 0 && packet.link_type == LinkType::ethernet) [[unlikely]]
      packet = with_tag(frame, packet);
    else if (packet.link_type == LinkType::raw) [[unlikely]]
      packet = with_protocol(frame, without_header(frame, packet));
    if (packet.wire_bytes > longest_frame) [[unlikely]]
      add_one(queue_->joined);
    return packet;
  }

  std::shared_ptr<SocketQueue> queue_;
  const MappedRing& ring_;
  InterfaceWatch watch_;
  std::uint32_t longest_frame_;  ///< limit by the link's MTU, for a single interface
  bool exhausted_ = false;
  std::uint32_t next_ = 0, oldest_ = 0;
  std::uint32_t held_[2] = {0, 0};  ///< frames delivered by the poll before the last one, and by the last one
};

}  // namespace

MappedRing::MappedRing(int socket, const PacketRing& shape) : shape_(shape) {
  void* const at = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, socket, 0);
  if (at != MAP_FAILED) at_ = static_cast<std::uint8_t*>(at);
}

MappedRing::~MappedRing() {
  if (at_ != nullptr) ::munmap(at_, bytes());
}

std::vector<LinkType> SocketQueue::link_types() const {
  if (link_type != LinkType::raw && !has_several()) return {link_type};
  std::vector<LinkType> types{LinkType::ipv4, LinkType::ipv6, LinkType::linux_sll2};
  if (!has_several()) return types;
  types.push_back(LinkType::ethernet);
  for (const KernelInterface& interface : interfaces->interfaces())
    if (const auto type = link_type_of(interface.hardware); type && std::ranges::find(types, *type) == types.end())
      types.push_back(*type);
  return types;
}

Counters SocketQueue::counters() noexcept {
  const SocketCounts counts = kernel->read();
  Counters counters;
  counters.set(Counter::nic_received, counts.received);
  counters.set(Counter::nic_missed, counts.dropped);
  counters.set(Counter::joined, joined.load(std::memory_order_relaxed));
  return counters;
}

std::unique_ptr<PacketSource> make_ring_source(std::shared_ptr<SocketQueue> queue) {
  return std::make_unique<RingSource>(std::move(queue));
}

}  // namespace parshall
