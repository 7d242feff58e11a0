// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

namespace parshall {

/// What came to a worker up to now, and how long it was at it.
struct WorkerLoad {
  std::uint64_t polled = 0, missed = 0;            ///< packets; and those that the device had to drop
  std::uint64_t busy_ticks = 0, all_ticks = 0;     ///< of the source; turns in which packets came, and all
  std::uint64_t turns = 0;                         ///< in which packets came
  std::uint64_t poll_cycles = 0, turn_cycles = 0;  ///< of these turns: in asking the source, and in all

  friend WorkerLoad operator-(const WorkerLoad& now, const WorkerLoad& before) noexcept {
    return {now.polled - before.polled,          now.missed - before.missed, now.busy_ticks - before.busy_ticks,
            now.all_ticks - before.all_ticks,    now.turns - before.turns,   now.poll_cycles - before.poll_cycles,
            now.turn_cycles - before.turn_cycles};
  }

  /// Of the time in all, what the packets would take in whole batches. A worker that has time to spare asks for packets
  /// more often than it must, so that it is busy for longer than they need.
  double busy_share(std::size_t batch) const noexcept {
    if (all_ticks == 0 || turns == 0 || turn_cycles == 0) return 0;
    const double asked_share = std::min(1.0, static_cast<double>(poll_cycles) / static_cast<double>(turn_cycles));
    const double turns_needed = std::min(1.0, static_cast<double>(polled) / static_cast<double>(batch * turns));
    return static_cast<double>(busy_ticks) / static_cast<double>(all_ticks) * (1 - asked_share * (1 - turns_needed));
  }
};

}  // namespace parshall
