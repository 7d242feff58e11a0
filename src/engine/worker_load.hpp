// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

namespace parshall {

/// Packets that came to a worker so far, and the time spent on them.
struct WorkerLoad {
  std::uint64_t polled = 0, missed = 0;             ///< packets, and those that the device dropped
  std::uint64_t busy_ticks = 0, all_ticks = 0;      ///< ticks of the source: in rounds with packets, and in all
  std::uint64_t rounds = 0;                         ///< rounds in which packets came
  std::uint64_t poll_cycles = 0, round_cycles = 0;  ///< cycles of these rounds: in polling the source, and in all
  std::uint64_t kept_out = 0;  ///< part of the packets polled that the flood filter kept out of the flows

  friend WorkerLoad operator-(const WorkerLoad& now, const WorkerLoad& before) noexcept {
    return {now.polled - before.polled,
            now.missed - before.missed,
            now.busy_ticks - before.busy_ticks,
            now.all_ticks - before.all_ticks,
            now.rounds - before.rounds,
            now.poll_cycles - before.poll_cycles,
            now.round_cycles - before.round_cycles,
            now.kept_out - before.kept_out};
  }

  /// Returns the packets that came for flows, including missed ones. Packets kept out count as part of what the others
  /// cost.
  std::uint64_t offered_to_flows() const noexcept {
    if (kept_out == 0 || polled == 0) return polled + missed;
    const double share = 1 - std::min(1.0, static_cast<double>(kept_out) / static_cast<double>(polled));
    return static_cast<std::uint64_t>(static_cast<double>(polled + missed) * share);
  }

  /// Returns the share of all time that the packets would take in full batches. An underloaded worker polls more often
  /// than necessary, so it is busy for longer than the packets need.
  double busy_share(std::size_t batch) const noexcept {
    if (all_ticks == 0 || rounds == 0 || round_cycles == 0) return 0;
    const double asked_share = std::min(1.0, static_cast<double>(poll_cycles) / static_cast<double>(round_cycles));
    const double rounds_needed = std::min(1.0, static_cast<double>(polled) / static_cast<double>(batch * rounds));
    return static_cast<double>(busy_ticks) / static_cast<double>(all_ticks) * (1 - asked_share * (1 - rounds_needed));
  }
};

}  // namespace parshall
