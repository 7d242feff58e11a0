// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/packet_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "pipeline/capture/interface_set.hpp"
#include "pipeline/capture/interface_watch.hpp"
#include "pipeline/capture/socket_ring.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kMostOfAFrame = 2048 - PacketRing::kFrameOffset;  ///< captured bytes per frame

class Sockets final : public PacketSocket {
 public:
  Sockets(std::vector<std::shared_ptr<SocketQueue>> queues, std::string description)
      : queues_(std::move(queues)), description_(std::move(description)) {
    if (interfaces().is_any()) return;
    std::string refused;
    for (const KernelInterface& interface : interfaces().interfaces())
      if (!promiscuous_.emplace_back(std::make_unique<PromiscuousMembership>(interface.index))->granted())
        refused += (refused.empty() ? "" : ", ") + interface.name;
    if (!refused.empty())
      description_ += fmt::format("; promiscuous mode was refused{}: only this host's packets",
                                  interfaces().is_one() ? "" : " on " + refused);
  }

  std::optional<Error> listen() override {
    for (const auto& queue : queues_)
      if (!interfaces().let_in(queue->socket.get()))
        return Error{fmt::format("cannot open {}: a filter: {}", queue->named, std::strerror(errno))};
    return std::nullopt;
  }

  std::vector<std::unique_ptr<PacketSource>> take_queues() override {
    std::vector<std::unique_ptr<PacketSource>> sources;
    if (!std::exchange(taken_, true))
      for (const auto& queue : queues_) sources.push_back(make_ring_source(queue));
    return sources;
  }

  Counters counters() override {
    Counters total;
    for (const auto& queue : queues_) total += queue->counters();
    return total;
  }

  std::vector<InterfacePackets> interface_packets() const override {
    std::vector<InterfacePackets> all;
    if (!queues_.front()->has_several()) return all;
    const std::vector<std::string> names = interfaces().names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      InterfacePackets one{.name = names[i]};
      if (!interfaces().is_any())
        one.is_gone =
            state_of_interface(queues_.front()->socket.get(), interfaces().interfaces()[i].index) == InputState::gone;
      for (const auto& queue : queues_) one.packets += queue->packets[i].load(std::memory_order_relaxed);
      if (one.packets != 0 || !interfaces().is_any()) all.push_back(std::move(one));
    }
    return all;
  }

  std::vector<std::string> interface_names() const override { return interfaces().names(); }

  std::vector<LinkType> link_types() const override { return queues_.front()->link_types(); }

  std::uint64_t memory_bytes() const override {
    std::uint64_t bytes = 0;
    for (const auto& queue : queues_) bytes += queue->ring->bytes();
    return bytes;
  }

  std::uint32_t descriptors() const override { return queues_.front()->ring->frames(); }

  std::string description() const override { return description_; }

 private:
  const InterfaceSet& interfaces() const noexcept { return *queues_.front()->interfaces; }

  std::vector<std::shared_ptr<SocketQueue>> queues_;
  std::vector<std::unique_ptr<PromiscuousMembership>> promiscuous_;
  std::string description_;
  bool taken_ = false;
};

/// Opens a packet socket step by step.
class Opening {
 public:
  explicit Opening(const PacketSocketOptions& options) : options_(options) {}

  Result<std::unique_ptr<PacketSocket>> run() {
    if (options_.queues == 0) return Error{"there must be a queue at least"};
    auto found = InterfaceSet::find(options_.interface);
    if (!found) return found.error();
    interfaces_ = std::make_shared<const InterfaceSet>(*std::move(found));
    if (interfaces_->is_one()) link_type_ = link_type_of(interfaces_->interfaces().front().hardware);
    std::vector<std::shared_ptr<SocketQueue>> queues;
    for (std::uint16_t i = 0; i < options_.queues; ++i) {
      queues.push_back(std::make_shared<SocketQueue>());
      if (auto error = make_ring(*queues.back())) return *std::move(error);
      if (auto error = bind(*queues.back())) return *std::move(error);
    }
    const std::uint32_t frames = queues.front()->ring->frames();
    return std::unique_ptr<PacketSocket>(new Sockets(std::move(queues), description(frames)));
  }

 private:
  using Step = std::optional<Error>;

  Error failed(std::string_view what) const {
    return {fmt::format("cannot open {}: {}: {}", options_.interface, what, std::strerror(errno))};
  }

  bool shows_header() const noexcept { return link_type_ || !interfaces_->is_one(); }

  /// Makes the ring. If an interface's link-layer header cannot be decoded here, the kernel leaves it out, and packets
  /// begin with the IP header. With several interfaces, each packet carries its type.
  Step make_ring(SocketQueue& queue) {
    queue.interfaces = interfaces_;
    queue.named = options_.interface;
    queue.socket = FileHandle(::socket(AF_PACKET, (shows_header() ? SOCK_RAW : SOCK_DGRAM) | SOCK_CLOEXEC, 0));
    if (!queue.socket) return failed("packet socket");
    const int socket = queue.socket.get();
    constexpr int kVersion = TPACKET_V2;
    if (::setsockopt(socket, SOL_PACKET, PACKET_VERSION, &kVersion, sizeof kVersion) != 0) return failed("its ring");
    const PacketRing shape = PacketRing::of(longest_frame(), options_.descriptors);
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
    if (!interfaces_->is_one()) queue.packets = std::vector<std::atomic<std::uint64_t>>(interfaces_->names().size());
    return std::nullopt;
  }

  std::uint32_t longest_frame() const {
    std::uint32_t mtu = 0;
    for (const KernelInterface& interface : interfaces_->interfaces()) mtu = std::max(mtu, interface.mtu);
    return std::min(std::min(mtu, kMostOfAFrame) + PacketRing::kLinkOverhead, kMostOfAFrame);
  }

  /// Binds with a filter that drops everything: until all queues share the traffic, each would receive all of it.
  Step bind(SocketQueue& queue) {
    const int socket = queue.socket.get();
    if (!ignore_all(socket)) return failed("a filter");
    const sockaddr_ll address{
        .sll_family = AF_PACKET, .sll_protocol = ::htons(ETH_P_ALL), .sll_ifindex = interfaces_->bound_index()};
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
    const bool is_loopback = interfaces_->is_one() && interfaces_->interfaces().front().hardware == ARPHRD_LOOPBACK;
    return fmt::format("{}: AF_PACKET, {} queue{} of {} packets, time from the kernel{}", options_.interface,
                       options_.queues, options_.queues == 1 ? "" : "s", frames,
                       is_loopback ? "" : "; what this host sends is seen too");
  }

  const PacketSocketOptions& options_;
  std::shared_ptr<const InterfaceSet> interfaces_;
  std::optional<LinkType> link_type_;  ///< link type of a single interface whose header is decoded here
  std::optional<int> group_;           ///< fanout group in which the queues share packets
};

}  // namespace

Result<std::unique_ptr<PacketSocket>> PacketSocket::open(const PacketSocketOptions& options) {
  return Opening(options).run();
}

}  // namespace parshall
