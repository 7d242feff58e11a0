// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/capture/source.hpp"
#include "traffic/arrival_queue.hpp"
#include "traffic/conversation_rounds.hpp"
#include "traffic/flow_trains.hpp"
#include "traffic/pace.hpp"
#include "traffic/syn_flood.hpp"
#include "traffic/traffic.hpp"

namespace parshall {

/// Counts of a paced source. Only the source writes; any thread may read.
class PacedCounts {
 public:
  void add(std::uint64_t delivered, std::uint64_t missed) noexcept {
    delivered_.store(delivered_.load(std::memory_order_relaxed) + delivered, std::memory_order_relaxed);
    missed_.store(missed_.load(std::memory_order_relaxed) + missed, std::memory_order_relaxed);
  }
  Counters counters() const noexcept {
    Counters counters;
    counters.set(Counter::nic_received, delivered_.load(std::memory_order_relaxed));
    counters.set(Counter::nic_missed, missed_.load(std::memory_order_relaxed));
    counters.set(Counter::nic_error, 0);
    counters.set(Counter::no_mbuf, 0);
    return counters;
  }

 private:
  std::atomic<std::uint64_t> delivered_{0}, missed_{0};
};

/// Plays a trace from memory repeatedly, as a device would: in real time, into a queue. Packets that come while the
/// queue is full are missed and counted.
///
/// Error: packets arrive when they are polled. A queue that is polled late misses exactly what a real one would, but
///        there is no interrupt or bus in between. Between two polls, packets arrive evenly, by their time stamps.
class PacedSource final : public PacketSource {
 public:
  using Clock = std::function<std::uint64_t()>;  ///< returns ns

  /// Controls a clock: `wait` advances it by some ns; `leave_out` makes it ignore ns that passed.
  struct Time {
    std::function<void(std::uint64_t)> wait, leave_out;
  };

  /// Time stamps are arrival times, from `first_ns` on. The pace begins with the first poll. `time` is set if the clock
  /// measures only the reader's work: it then waits if nothing has come, and the time to make packets is left out.
  PacedSource(std::shared_ptr<const Trace> trace, Pace pace, std::size_t queue, std::uint64_t first_ns,
              Clock clock = &steady_ns, std::optional<Time> time = std::nullopt);

  /// Makes the pace begin `elapsed_ns` before the first poll; packets of that time are discarded. Call it before the
  /// first poll.
  void begin_at(std::uint64_t elapsed_ns) noexcept;

  /// Starts at the `number`-th packet of the repeated trace. If two sources start far enough apart, their trains have
  /// different flows. Call it before the first poll.
  void play_from(std::uint64_t number) noexcept { first_packet_ = number; }

  static std::uint64_t steady_ns() noexcept;

  std::size_t poll(std::span<RawPacket> out) noexcept override;
  bool lossless() const noexcept override { return false; }
  /// Returns the time of the last poll; later packets are still to be polled.
  std::uint64_t now_ns() noexcept override { return first_ns_ + polled_ns_; }
  std::uint64_t ticks() noexcept override { return time_ ? clock_() : PacketSource::ticks(); }
  Counters counters() noexcept override { return counts_->counters(); }
  std::shared_ptr<const PacedCounts> counts() const noexcept { return counts_; }
  /// Starts counting missed packets by intervals of time. The result may be read once the source is destroyed; it grows
  /// all the time.
  std::shared_ptr<const std::vector<std::uint64_t>> losses(std::uint64_t stretch_ns) {
    stretch_ns_ = stretch_ns;
    return losses_ = std::make_shared<std::vector<std::uint64_t>>();
  }

 private:
  std::uint64_t packets_by(std::uint64_t elapsed_ns) const noexcept;
  void arrive(std::uint64_t arrived, std::uint64_t elapsed_ns) noexcept;
  void play(ArrivalQueue::Run run, std::span<RawPacket> out) noexcept;
  static constexpr std::uint64_t kWaitNs = 10'000;
  static constexpr std::uint64_t kMostToPlayNs = 100;  ///< per packet; a longer time means an interruption

  std::shared_ptr<const Trace> trace_;
  SynFlood flood_;
  FlowTrains trains_;
  ConversationRounds rounds_;
  Pace pace_;
  std::uint64_t first_ns_, first_packet_ = 0;
  Clock clock_;
  std::optional<Time> time_;
  std::optional<std::uint64_t> began_ns_;
  std::uint64_t ahead_ns_ = 0;   ///< set by begin_at()
  std::uint64_t polled_ns_ = 0;  ///< time since the pace began
  ArrivalQueue queue_;
  std::uint64_t stretch_ns_ = 0;
  std::shared_ptr<std::vector<std::uint64_t>> losses_;  ///< null unless requested
  std::shared_ptr<PacedCounts> counts_ = std::make_shared<PacedCounts>();
};

}  // namespace parshall
