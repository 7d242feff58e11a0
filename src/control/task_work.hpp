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

/// What a task looks at of its flows: a share of those of each weight, by a hash of the flow. The hash is one for
/// all tasks, so that who looks at fewer flows looks at some of those that others look at.
class TaskShare {
 public:
  constexpr TaskShare() noexcept : TaskShare(1) {}
  constexpr explicit TaskShare(double of_all) noexcept { by_weight_.fill(of_all); }
  /// Of flows from one weight to below another; and of the others.
  TaskShare(double of_flows, std::size_t from, std::size_t below, double of_others = 0) noexcept
      : TaskShare(std::min(of_flows, of_others)) {
    for (std::size_t weight = from; weight < below; ++weight) by_weight_[weight] = of_flows;
  }

  double of_weight(std::size_t weight) const noexcept { return by_weight_[weight]; }
  bool is_all() const noexcept {
    return std::ranges::all_of(by_weight_, [](double share) { return share >= 1; });
  }

  /// What it is on the way to `target`: there already with all that becomes less; with what becomes more, so far.
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

/// A task that can give way.
struct TaskDemand {
  std::uint64_t states = 0;  ///< bit i: flows of base state i are its
  std::uint64_t fixed = 0;   ///< of these: states in which it never gives way
  std::uint32_t parts = 0;   ///< bit j: what is done for a packet that it looks at; what tasks share is done once
  double recall = 0.75;      ///< wanted
  int priority = 0;          ///< whose turn it is last: that of the largest
  bool by_keys = false;  ///< it adds up flows of a key: a share of them by hash tells nothing, heavy ones nearly all
  bool knows_weights = true;  ///< what flows of each weight show; else all its flows are alike
  double events = 0;          ///< in a window, on average, as far as is known
  double unlike = 0.02;       ///< of recall, for events of few flows, which are the same in all windows
  /// Of flows of each weight, it looks at so many at least where there is any time for it: they show what the others
  /// do. Not of keys.
  double probe = 1.0 / 32;
  double loss_exponent = BlindLoss::kUnknown;  ///< where packets are lost, whichever they are: BlindLoss
  /// Which share of them flows of each weight show. They add up to 1.
  std::array<double, FlowWeight::kClasses> events_by_weight = of_lightest();

  static constexpr std::array<double, FlowWeight::kClasses> of_lightest() noexcept { return {1}; }

  /// Of its events, what it finds by such a share, where flows of a weight are alike.
  double recall_with(const TaskShare& share) const noexcept {
    double found = 0;
    for (std::size_t weight = 0; weight < events_by_weight.size(); ++weight)
      found += events_by_weight[weight] * share.of_weight(weight);
    return found;
  }
  /// What it is to have on average, to have what is wanted in most windows: chance has its way with few events. So many
  /// standard deviations more: 1.3 are nine windows of ten.
  double recall_aimed_at(double deviations = 1.3) const noexcept;
  /// That a window has what is wanted, where so much is found on average.
  double chance_with(double found) const noexcept;
};

/// What comes, and what it takes.
struct TaskWork {
  static constexpr std::size_t kMostParts = 32, kMostTasks = 16;

  std::span<const double> packets;  ///< by base state and weight (FlowWeight)
  double base_ns = 0;               ///< of every packet
  std::span<const double> part_ns;  ///< by part, of a packet that it is done for; or, of flow_parts, of a flow
  std::uint32_t flow_parts = 0;     ///< bit j: part j is done once for each flow and window
  std::array<double, FlowWeight::kClasses> flows_per_packet{};  ///< by weight, of a window
  std::uint32_t mixed_parts = 0;  ///< bit j: packets for which part j is done, or not, follow no pattern
  double mixed_ns = 0;            ///< that it takes, where it is one packet of two: branches are told wrong
  std::uint64_t always = 0;       ///< bit i: part 0 is done for all of base state i, whatever tasks look at
};

}  // namespace parshall
