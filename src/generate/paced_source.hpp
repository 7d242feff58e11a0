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

#include "generate/arrival_queue.hpp"
#include "generate/conversation_rounds.hpp"
#include "generate/flow_trains.hpp"
#include "generate/pace.hpp"
#include "generate/syn_flood.hpp"
#include "generate/traffic.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// What came of a pace. Any thread reads it, while one source counts.
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

/// Plays a trace from memory over and over as a device would: at a pace of real time, into a queue. What comes while
/// the queue is full is missed, and counted.
///
/// Error: packets come when they are asked for: what a queue that is polled late would have missed is what this one
///        misses, but no interrupt or bus is in the way. Between two polls they came evenly, by their time stamps.
class PacedSource final : public PacketSource {
 public:
  using Clock = std::function<std::uint64_t()>;  ///< ns

  /// A clock that time is given to, and taken from: so many ns go by on it, or have not, though some did.
  struct Time {
    std::function<void(std::uint64_t)> wait, leave_out;
  };

  /// Time stamps are those of arrival, from `first_ns` on. The pace begins with the first poll. `time`: where the clock
  /// is of the reader's work alone: it waits where nothing has come, and what making packets takes is left out.
  PacedSource(std::shared_ptr<const Trace> trace, Pace pace, std::size_t queue, std::uint64_t first_ns,
              Clock clock = &steady_ns, std::optional<Time> time = std::nullopt);

  /// Before the first poll: the pace has begun so long before it, and what came then came to nobody.
  void begin_at(std::uint64_t elapsed_ns) noexcept;

  /// Before the first poll: plays the trace from its `number`-th packet on, of all its repetitions. Trains of two
  /// sources are of different flows where these are far enough apart.
  void play_from(std::uint64_t number) noexcept { first_packet_ = number; }

  static std::uint64_t steady_ns() noexcept;

  std::size_t poll(std::span<RawPacket> out) noexcept override;
  bool lossless() const noexcept override { return false; }
  /// Of the last poll: whatever came since is still to be polled.
  std::uint64_t now_ns() noexcept override { return first_ns_ + polled_ns_; }
  std::uint64_t ticks() noexcept override { return time_ ? clock_() : PacketSource::ticks(); }
  Counters counters() noexcept override { return counts_->counters(); }
  std::shared_ptr<const PacedCounts> counts() const noexcept { return counts_; }
  /// Packets missed by stretches of time from now on; to be read once the source is no more. Takes memory as it goes.
  std::shared_ptr<const std::vector<std::uint64_t>> losses(std::uint64_t stretch_ns) {
    stretch_ns_ = stretch_ns;
    return losses_ = std::make_shared<std::vector<std::uint64_t>>();
  }

 private:
  std::uint64_t packets_by(std::uint64_t elapsed_ns) const noexcept;
  void arrive(std::uint64_t arrived, std::uint64_t elapsed_ns) noexcept;
  void play(ArrivalQueue::Run run, std::span<RawPacket> out) noexcept;
  static constexpr std::uint64_t kWaitNs = 10'000;
  static constexpr std::uint64_t kMostToPlayNs = 100;  ///< a packet: what takes longer was interrupted

  std::shared_ptr<const Trace> trace_;
  SynFlood flood_;
  FlowTrains trains_;
  ConversationRounds rounds_;
  Pace pace_;
  std::uint64_t first_ns_, first_packet_ = 0;
  Clock clock_;
  std::optional<Time> time_;
  std::optional<std::uint64_t> began_ns_;
  std::uint64_t ahead_ns_ = 0;   ///< begin_at()'s
  std::uint64_t polled_ns_ = 0;  ///< since the pace began
  ArrivalQueue queue_;
  std::uint64_t stretch_ns_ = 0;
  std::shared_ptr<std::vector<std::uint64_t>> losses_;  ///< null: nobody asks
  std::shared_ptr<PacedCounts> counts_ = std::make_shared<PacedCounts>();
};

}  // namespace parshall
