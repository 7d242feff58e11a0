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
  std::uint64_t kept_out = 0;  ///< of the packets polled: by the flood filter, so that no flow has them
  std::uint64_t shed = 0;      ///< likewise, for want of time

  friend WorkerLoad operator-(const WorkerLoad& now, const WorkerLoad& before) noexcept {
    return {now.polled - before.polled,           now.missed - before.missed,     now.busy_ticks - before.busy_ticks,
            now.all_ticks - before.all_ticks,     now.turns - before.turns,       now.poll_cycles - before.poll_cycles,
            now.turn_cycles - before.turn_cycles, now.kept_out - before.kept_out, now.shed - before.shed};
  }

  /// Packets that came for flows, with those that were missed. What is kept out is part of what the others take.
  std::uint64_t offered_to_flows() const noexcept {
    if (kept_out == 0 || polled == 0) return polled + missed;
    const double share = 1 - std::min(1.0, static_cast<double>(kept_out) / static_cast<double>(polled));
    return static_cast<std::uint64_t>(static_cast<double>(polled + missed) * share);
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
