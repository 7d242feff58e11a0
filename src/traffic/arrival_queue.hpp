// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parshall {

/// Queue of a device: packets by number, in order of arrival, without those that came while it was full.
class ArrivalQueue {
 public:
  /// Packets that came at equal intervals.
  struct Run {
    std::uint64_t first, count;
    double first_ns, step_ns;
  };

  explicit ArrivalQueue(std::uint64_t packets) : room_(packets), runs_(packets) {}

  std::uint64_t arrived() const noexcept { return arrived_; }  ///< all that ever arrived, including missed ones

  /// Discards the packets before this one, which no queue received.
  void begin_after(std::uint64_t arrived) noexcept { arrived_ = arrived; }

  /// Adds arrivals: up to `arrived` packets came by `to_ns`, evenly since `from_ns`. Returns how many found no room.
  std::uint64_t arrive(std::uint64_t arrived, std::uint64_t from_ns, std::uint64_t to_ns) noexcept {
    if (arrived <= arrived_) return 0;
    const std::uint64_t fresh = arrived - arrived_, kept = std::min(fresh, room_ - waiting_);
    const double step_ns = static_cast<double>(to_ns - from_ns) / static_cast<double>(fresh);
    if (kept != 0)
      runs_[(first_run_ + runs_waiting_++) % runs_.size()] = {arrived_, kept, static_cast<double>(from_ns) + step_ns,
                                                              step_ns};
    waiting_ += kept;
    arrived_ = arrived;
    return fresh - kept;
  }

  /// Takes the oldest packets, at most `most`. Calls `play(run, at)` for each run of them, the first of which is the
  /// `at`-th packet taken. Returns how many were taken.
  template <class Play>
  std::size_t take(std::size_t most, Play play) noexcept {
    std::size_t taken = 0;
    while (taken < most && runs_waiting_ != 0) {
      Run& run = runs_[first_run_];
      const std::uint64_t count = std::min<std::uint64_t>(most - taken, run.count);
      play(Run{run.first, count, run.first_ns, run.step_ns}, taken);
      taken += count;
      run.first += count;
      run.count -= count;
      run.first_ns += static_cast<double>(count) * run.step_ns;
      if (run.count != 0) continue;
      first_run_ = (first_run_ + 1) % runs_.size();
      --runs_waiting_;
    }
    waiting_ -= taken;
    return taken;
  }

 private:
  std::uint64_t room_;
  std::vector<Run> runs_;  ///< ring of waiting runs, each with at least one packet
  std::size_t first_run_ = 0, runs_waiting_ = 0;
  std::uint64_t arrived_ = 0, waiting_ = 0;
};

}  // namespace parshall
