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
  device_ticks,             ///< in the packet, turned into time by a TickClock
};

/// How a queue finds out when a packet came.
struct TimeStamping {
  TimeSource source = TimeSource::clock;
  int field_offset = -1;         ///< of the time stamp in the mbuf
  std::uint64_t valid_flag = 0;  ///< in ol_flags of packets that carry one
  TickClock ticks;
};

/// One receive queue of a port.
///
/// Shape: 8 KiB of mbuf pointers: the packets of the last two polls.
/// Cost:  one clock reading a burst, unless the device stamps; no lock, no allocation. Where packets go on to a kernel
///        interface, one more system call a burst; where nothing comes from one, what InterfaceWatch takes.
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

  /// Of a kernel interface that the port watches: once that is gone it is exhausted. Before the first poll().
  void watch() { watch_.emplace(port_->link()->socket()); }

  /// What comes in on either queue goes out of the transmit queue of that number of the other's port.
  static void join(QueueSource& a, QueueSource& b);

 private:
  struct Burst {
    std::array<rte_mbuf*, kMaxBurst> mbufs;
    unsigned count = 0;
    void free() noexcept;
  };

  /// A transmit queue of another port.
  struct Exit {
    std::shared_ptr<PortState> port;
    std::uint16_t id;
    std::uint16_t queue;
    FrameLimits limits;  ///< of both ports

    bool fits(const rte_mbuf& frame) const noexcept;
  };

  std::uint8_t* frame(std::size_t i) noexcept override;
  ForwardCounts send(std::size_t count) noexcept override;
  Burst& latest() noexcept { return bursts_[turn_ ^ 1]; }

  void look(unsigned received) noexcept;
  void receive(Burst& burst, std::size_t wanted) noexcept;
  std::uint64_t time_of(const rte_mbuf& packet, std::uint64_t now_ns) noexcept;
  void feed_clock(std::uint64_t now_ns) noexcept;

  std::shared_ptr<PortState> port_;
  std::uint16_t port_id_;
  std::uint16_t queue_;
  std::uint32_t maybe_cut_;  ///< bytes: as FrameLimits says
  bool ends_;                ///< nothing waiting means nothing will come (a file)
  bool exhausted_ = false;
  unsigned turn_ = 0;
  std::uint64_t clock_fed_ns_ = 0;
  TimeStamping stamping_;
  std::array<Burst, 2> bursts_;
  std::optional<Exit> exit_;
  std::optional<InterfaceWatch> watch_;
};

}  // namespace parshall::dpdk
