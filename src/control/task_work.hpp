// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/flow_weight.hpp"
#include "control/blind_loss.hpp"

namespace parshall {

/// Flows that a task inspects: a share of those of each weight, by a hash of the flow. All tasks use the same hash, so
/// a task with fewer flows inspects a subset of another's flows.
class TaskShare {
 public:
  constexpr TaskShare() noexcept : TaskShare(1) {}
  constexpr explicit TaskShare(double of_all) noexcept { by_weight_.fill(of_all); }
  /// Takes the share of flows from one weight to below another, and that of the others.
  TaskShare(double of_flows, std::size_t from, std::size_t below, double of_others = 0) noexcept
      : TaskShare(std::min(of_flows, of_others)) {
    for (std::size_t weight = from; weight < below; ++weight) by_weight_[weight] = of_flows;
  }

  double of_weight(std::size_t weight) const noexcept { return by_weight_[weight]; }
  bool is_all() const noexcept {
    return std::ranges::all_of(by_weight_, [](double share) { return share >= 1; });
  }

  /// Returns an intermediate share: reductions apply at once, increases up to `part`.
  TaskShare towards(const TaskShare& target, double part) const noexcept {
    TaskShare on_the_way = target;
    for (std::size_t weight = 0; weight < by_weight_.size(); ++weight)
      if (const double more = target.by_weight_[weight] - by_weight_[weight]; more > 0)
        on_the_way.by_weight_[weight] = by_weight_[weight] + part * more;
    return on_the_way;
  }

  friend bool operator==(const TaskShare&, const TaskShare&) = default;

 private:
  std::array<double, FlowWeight::kClasses> by_weight_;
};

/// Demand of a task that can be reduced.
struct TaskDemand {
  std::uint64_t states = 0;   ///< bit i: the task inspects flows of base state i
  std::uint64_t fixed = 0;    ///< the part of these states in which it is never reduced
  std::uint32_t parts = 0;    ///< bit j: part j is done for its packets; shared parts are done once
  double recall = 0.75;       ///< wanted recall
  int priority = 0;           ///< tasks of the largest number are reduced last
  bool by_keys = false;       ///< true: adds up flows by a key; shares by hash are useless, heavy flows give nearly all
  bool knows_weights = true;  ///< true: events by weight are known; false: all its flows are alike
  double events = 0;          ///< mean per window, as far as known
  double unlike = 0.02;       ///< error of recall for events of few flows that recur in all windows
  /// Least share of flows of each weight that it inspects if there is any time, to learn about the others. Not for
  /// tasks by key.
  double probe = 1.0 / 32;
  double loss_exponent = BlindLoss::kUnknown;  ///< for random packet loss; see BlindLoss
  /// Share of its events in flows of each weight; the sum is 1.
  std::array<double, FlowWeight::kClasses> events_by_weight = of_lightest();

  static constexpr std::array<double, FlowWeight::kClasses> of_lightest() noexcept { return {1}; }

  /// Returns the share of its events found with this share of flows, assuming that flows of one weight are alike.
  double recall_with(const TaskShare& share) const noexcept {
    double found = 0;
    for (std::size_t weight = 0; weight < events_by_weight.size(); ++weight)
      found += events_by_weight[weight] * share.of_weight(weight);
    return found;
  }
  /// Returns the mean recall needed to reach the wanted recall in most windows, since few events vary by chance. 1.3
  /// standard deviations cover nine windows of ten.
  double recall_aimed_at(double deviations = 1.3) const noexcept;
  /// Returns the probability that a window has the wanted recall, given the mean.
  double chance_with(double found) const noexcept;
};

/// Traffic of a window, and its costs.
struct TaskWork {
  static constexpr std::size_t kMostParts = 32, kMostTasks = 16;

  std::span<const double> packets;  ///< by base state and weight (FlowWeight)
  double base_ns = 0;               ///< for every packet
  std::span<const double> part_ns;  ///< by part: cost per packet it is done for; for flow_parts, per flow
  std::uint32_t flow_parts = 0;     ///< bit j: part j is done once per flow and window
  std::array<double, FlowWeight::kClasses> flows_per_packet{};  ///< flows per packet of a window, by weight
  std::uint32_t mixed_parts = 0;  ///< bit j: whether part j is done varies from packet to packet without a pattern
  double mixed_ns = 0;            ///< cost if it is done for every other packet, since branches are mispredicted
  std::uint64_t always = 0;       ///< bit i: part 0 is done for all of base state i, whatever tasks inspect
};

}  // namespace parshall
