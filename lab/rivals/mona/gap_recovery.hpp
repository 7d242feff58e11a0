// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flow_weight.hpp"
#include "lab/rivals/mona/adaptation.hpp"

namespace parshall::lab {

/// Moves time from tasks with more recall than they need to tasks with less, one step a window.
///
/// A state is poor if a task of it is below its threshold, and rich if all are above it by some headroom. Flows of rich
/// states go to the lightest state. The time saved brings back flows that adaptation took out of poor states. A poor
/// state that gave time before takes that back first, if necessary from the states that took it.
///
/// Cost:   5 us for 64 states and as many tasks, once a window; nothing is allocated after the constructor.
/// Error:  total time stays the same for the packets that a bias is applied to. If rich states save more or less than
///         poor ones can use, the larger side is reduced to the other. Packets of the next window differ from them.
/// Source: algorithm 2 of Tangari et al., MONA, IEEE/ACM ToN 2020, corrected. A step grows if the headroom is larger
/// than
///         the cost of the last one; time is counted for packets, not flows; time that cannot be used is not taken.
class GapRecovery {
 public:
  /// How a step grows if it was too small, and shrinks if too large: by a factor of two, or by added_step.
  enum class StepChange : std::uint8_t { multiply, add };
  struct Options {
    double headroom = 0.05;                          ///< recall above the threshold
    double least_step = 0.0025, largest_step = 0.1;  ///< share of all packets
    double largest_part = 0.1;                       ///< largest step, as a share of a state's own packets
    double first_step = least_step, added_step = 0.01;
    StepChange grows = StepChange::multiply, shrinks = StepChange::multiply;
  };
  struct Task {
    std::uint64_t states;          ///< bit i: it is in state i
    double threshold;              ///< wanted recall, 0 to 1
    std::optional<double> recall;  ///< estimate; unknown: its states are neither poor nor rich
    /// Share of its events in flows of that weight or more (FlowWeight); unknown: possibly all.
    std::array<double, FlowWeight::kClasses> heavy_share = filled(1);

    static constexpr std::array<double, FlowWeight::kClasses> filled(double share) noexcept {
      std::array<double, FlowWeight::kClasses> shares{};
      shares.fill(share);
      return shares;
    }
  };

  GapRecovery(const StateGraph& graph, Options options);

  /// Takes another step at the end of a window if there are poor and rich states. `base_packets` counts the window's
  /// packets by base state; `adapted` is the decision of adaptation alone for it. Returns true if anything changed.
  bool step(const StateGraph& graph, std::span<const Task> tasks, std::span<const double> base_packets,
            const Allocation& adapted) noexcept;

  /// Applies all steps so far to the decision of adaptation for packets like these.
  void apply(const StateGraph& graph, std::span<const double> base_packets, Allocation& adapted) noexcept;

  /// Returns the share of the state's reduced flows that are back. A value below 0 is the share of its flows outside
  /// the lightest state that went there. The part in force may be smaller.
  double bias(std::size_t state) const noexcept { return states_[state].bias; }

 private:
  struct State {
    std::optional<double> headroom;  ///< margin of its worst task in the last window; unset: unknown
    double step;                     ///< share of all packets
    double bias = 0;
    bool is_rich = false;
    bool gave = false, gave_whole_step = false;  ///< in the window that has ended
    // For the current packets:
    double share = 0;       ///< share among all
    double adapted_ns = 0;  ///< mean cost by adaptation alone
    double now_ns = 0;      ///< mean cost with the bias in force
    double in_force = 0;    ///< part of the bias that there is time for

    bool is_poor() const noexcept { return headroom && *headroom < 0 && share > 0; }
    double taken_ns() const noexcept { return share * (now_ns - adapted_ns); }  ///< per mean packet
  };

  void judge(std::span<const Task> tasks) noexcept;
  double changed_step(double step, bool grows) const noexcept;
  void price(const StateGraph& graph, std::span<const double> base_packets, const Allocation& adapted) noexcept;
  double spare_ns(const StateGraph& graph, const State& state) const noexcept;
  double owed_ns(const StateGraph& graph, const State& state) const noexcept;
  double give_to_poor(const StateGraph& graph, double left_ns) noexcept;
  void charge(const StateGraph& graph, double part) noexcept;
  bool repay(const StateGraph& graph, double owed, double repaid) noexcept;
  void settle(const StateGraph& graph) noexcept;

  Options options_;
  std::vector<State> states_;
  std::uint8_t lightest_ = 0;
};

}  // namespace parshall::lab
