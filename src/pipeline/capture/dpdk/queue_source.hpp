// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rte_mbuf.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "pipeline/capture/dpdk/port_state.hpp"
#include "pipeline/capture/dpdk/rx_clock.hpp"
#include "pipeline/capture/interface_watch.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall::dpdk {

enum class TimeSource {
  clock,                    ///< CLOCK_REALTIME, once a burst
  microseconds_since_1970,  ///< in the packet
  nanoseconds_since_1970,   ///< in the packet
  device_ticks,             ///< in the packet, converted by a TickClock
};

/// Says how a queue determines when a packet arrived.
struct TimeStamping {
  TimeSource source = TimeSource::clock;
  int field_offset = -1;         ///< offset of the time stamp in the mbuf
  std::uint64_t valid_flag = 0;  ///< flag in ol_flags of packets that have one
  TickClock ticks;
};

/// One receive queue of a port.
///
/// Shape: 8 KiB of mbuf pointers: the packets of the last two polls.
/// Cost:  one clock reading a burst, unless the device stamps packets; no lock, no allocation. Forwarding to a kernel
///        interface adds a system call a burst. An empty poll of one adds what InterfaceWatch takes.
class QueueSource final : public PacketSource, private Forwarder {
 public:
  static constexpr std::size_t kMaxBurst = 512;

  QueueSource(std::shared_ptr<PortState> port, std::uint16_t queue, TimeStamping stamping, bool ends)
      : port_(std::move(port)),
        port_id_(port_->id()),
        queue_(queue),
        maybe_cut_(port_->limits().maybe_cut),
        ends_(ends),
        stamping_(stamping) {}
  ~QueueSource() override;

  std::size_t poll(std::span<RawPacket> out) noexcept override;
  bool exhausted() const noexcept override { return exhausted_; }
  bool lossless() const noexcept override { return port_->facts().waits || ends_; }
  std::vector<LinkType> link_types() const override { return {LinkType::ethernet}; }
  std::uint64_t now_ns() noexcept override;
  Counters counters() noexcept override { return port_->queue_counters(queue_); }
  InputState state() const noexcept override { return watch_ ? watch_->state() : InputState::up; }
  std::optional<Error> damage() const override;
  Forwarder* forwarder() noexcept override { return exit_ ? this : nullptr; }

  /// Watches the kernel interface of the port; once it is gone, this source is exhausted. Call it before the first
  /// poll().
  void watch() { watch_.emplace(port_->link()->socket()); }

  /// Connects two queues: each forwards to the transmit queue with its number on the other's port.
  static void join(QueueSource& a, QueueSource& b);

 private:
  struct Burst {
    std::array<rte_mbuf*, kMaxBurst> mbufs;
    unsigned count = 0;
    void free() noexcept;
  };

  /// Transmit queue of another port.
  struct Exit {
    std::shared_ptr<PortState> port;
    std::uint16_t id;
    std::uint16_t queue;
    FrameLimits limits;  ///< the stricter limits of both ports

    bool fits(const rte_mbuf& frame) const noexcept;
  };

  std::uint8_t* frame(std::size_t i) noexcept override;
  ForwardCounts send(std::size_t count) noexcept override;
  Burst& latest() noexcept { return bursts_[half_ ^ 1]; }

  void look(unsigned received) noexcept;
  void receive(Burst& burst, std::size_t wanted) noexcept;
  std::uint64_t time_of(const rte_mbuf& packet, std::uint64_t now_ns) noexcept;
  void feed_clock(std::uint64_t now_ns) noexcept;

  std::shared_ptr<PortState> port_;
  std::uint16_t port_id_;
  std::uint16_t queue_;
  std::uint32_t maybe_cut_;  ///< bytes; see FrameLimits
  bool ends_;                ///< an empty poll means the end (a file)
  bool exhausted_ = false;
  unsigned half_ = 0;
  std::uint64_t clock_fed_ns_ = 0;
  TimeStamping stamping_;
  std::array<Burst, 2> bursts_;
  std::optional<Exit> exit_;
  std::optional<InterfaceWatch> watch_;
};

}  // namespace parshall::dpdk
