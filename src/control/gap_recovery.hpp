// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flow_weight.hpp"
#include "control/adaptation.hpp"

namespace parshall {

/// Moves time from tasks whose reports are better than they need be to tasks whose reports are worse, a step a window.
///
/// A state is poor where a task of it is below its threshold, and rich where all are above by some headroom. Flows of
/// rich states go to the lightest state, and for the time that this saves, flows that adaptation took out of poor
/// states go back. A poor state that gave before takes that back first, if need be from those that took it.
///
/// Cost:   5 us for 64 states and as many tasks, once a window; nothing is allocated after the constructor.
/// Error:  time stays the same for the packets that a bias is applied for: where rich states save more than poor ones
///         can take, or less, the larger side is cut down to the other. Packets of the next window differ from them.
/// Source: algorithm 2 of Tangari et al., MONA, IEEE TNSM 2020, mended: a step grows where the headroom is larger than
///         what the last one cost; time is of packets, not of flows; what cannot go back is not taken.
class GapRecovery {
 public:
  /// How a step that was too small grows, and one that was too large shrinks: to twice, or half; or by added_step.
  enum class StepChange : std::uint8_t { multiply, add };
  struct Options {
    double headroom = 0.05;                          ///< of recall, above the threshold
    double least_step = 0.0025, largest_step = 0.1;  ///< of all packets
    double largest_part = 0.1;                       ///< that a step may be of a state's own packets
    double first_step = least_step, added_step = 0.01;
    StepChange grows = StepChange::multiply, shrinks = StepChange::multiply;
  };
  struct Task {
    std::uint64_t states;          ///< bit i: it is in state i
    double threshold;              ///< of recall, 0 to 1
    std::optional<double> recall;  ///< by estimate; unknown: its states are neither poor nor rich
    /// Of its events, those of flows of that weight or more (FlowWeight); unknown: all may be.
    std::array<double, FlowWeight::kClasses> heavy_share = filled(1);

    static constexpr std::array<double, FlowWeight::kClasses> filled(double share) noexcept {
      std::array<double, FlowWeight::kClasses> shares{};
      shares.fill(share);
      return shares;
    }
  };

  GapRecovery(const StateGraph& graph, Options options);

  /// At a window's end: another step, where there are poor and rich states. `base_packets`: the window's, by base
  /// state; `adapted`: what adaptation alone had decided for it. Whether anything changed.
  bool step(const StateGraph& graph, std::span<const Task> tasks, std::span<const double> base_packets,
            const Allocation& adapted) noexcept;

  /// Adds all steps up to now to what adaptation has decided for packets like these.
  void apply(const StateGraph& graph, std::span<const double> base_packets, Allocation& adapted) noexcept;

  /// Of the flows that gave way, those that are back; below 0: of those not in the lightest state, those that went
  /// there. What of it is in force may be less.
  double bias(std::size_t state) const noexcept { return states_[state].bias; }

 private:
  struct State {
    std::optional<double> headroom;  ///< what its worst task has above its threshold, in the last window; unknown: none
    double step;                     ///< of all packets
    double bias = 0;
    bool is_rich = false;
    bool gave = false, gave_whole_step = false;  ///< for the window that has ended
    // Of the packets at hand:
    double share = 0;       ///< among all
    double adapted_ns = 0;  ///< what they take on average by adaptation alone
    double now_ns = 0;      ///< and with the bias in force
    double in_force = 0;    ///< the bias, or as much of it as there is time for

    bool is_poor() const noexcept { return headroom && *headroom < 0 && share > 0; }
    double taken_ns() const noexcept { return share * (now_ns - adapted_ns); }  ///< of a mean packet
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

}  // namespace parshall
