// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "control/adaptation.hpp"

namespace parshall {

/// Moves time from tasks whose reports are better than they need be to tasks whose reports are worse, a step a window.
///
/// A state is poor where a task of it is below its threshold, and rich where all are above by some headroom. Flows of
/// rich states go to the lightest state, and for the time that this saves, flows that adaptation took out of poor
/// states go back.
///
/// Cost:   (states)^3 steps a window at most, 120 us for 64; nothing is allocated after the constructor.
/// Error:  time stays the same in the window that a step is taken for. In a later one, of other packets or another
///         shift, what rich states gave and poor ones took need not be the same.
/// Source: algorithm 2 of Tangari et al., MONA, IEEE TNSM 2020, mended: a step grows where the headroom is larger than
///         what the last one cost; time is of packets, not of flows; what cannot go back is not taken.
class GapRecovery {
 public:
  struct Options {
    double headroom = 0.05;                          ///< of recall, above the threshold
    double least_step = 0.0025, largest_step = 0.1;  ///< of all packets
  };
  struct Task {
    std::uint64_t states;          ///< bit i: it is in state i
    double threshold;              ///< of recall, 0 to 1
    std::optional<double> recall;  ///< by estimate; unknown: its states are neither poor nor rich
  };

  GapRecovery(const StateGraph& graph, Options options);

  /// At a window's end: another step, where there are poor and rich states. `base_packets`: the window's, by base
  /// state; `adapted`: what adaptation alone had decided for it. Whether anything changed.
  bool step(const StateGraph& graph, std::span<const Task> tasks, std::span<const double> base_packets,
            const Allocation& adapted) noexcept;

  /// Adds all steps up to now to what adaptation has decided.
  void apply(Allocation& adapted) const noexcept;

  void forget() noexcept;  ///< all steps

  /// Of the flows that gave way, those that are back; below 0: of those not in the lightest state, those that went
  /// there.
  double bias(std::size_t state) const noexcept { return states_[state].bias; }

 private:
  struct State {
    std::optional<double> headroom;  ///< what its worst task has above its threshold, in the last window; unknown: none
    double step;                     ///< of all packets
    double bias = 0;
    bool is_rich = false;
  };
  /// What packets of a base state take on average: as adaptation alone would have it, and with the bias.
  struct Cost {
    double adapted_ns, now_ns;
  };

  void judge(std::span<const Task> tasks) noexcept;
  Cost cost_of(const StateGraph& graph, std::size_t state, const Allocation& adapted) const noexcept;
  double bias_for(const StateGraph& graph, std::size_t state, Cost cost) const noexcept;

  Options options_;
  std::vector<State> states_;
  std::uint8_t lightest_ = 0;
};

}  // namespace parshall
