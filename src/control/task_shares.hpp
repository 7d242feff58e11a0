// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/flow_weight.hpp"

namespace parshall {

/// What a task looks at of its flows: this share, by a hash of the flow, of those of these weights. The hash is one for
/// all tasks, so that who looks at fewer flows looks at some of those that others look at.
struct TaskShare {
  double of_flows = 1;                             ///< 0 to 1
  std::uint8_t heavy_from = FlowWeight::kClasses;  ///< flows of this weight or more are left out; kClasses: none
  std::uint8_t light_below = 0;                    ///< flows of less weight are left out

  double of_weight(std::size_t weight) const noexcept {
    return weight >= light_below && weight < heavy_from ? of_flows : 0;
  }
  bool is_all() const noexcept { return of_flows >= 1 && heavy_from == FlowWeight::kClasses && light_below == 0; }

  friend bool operator==(const TaskShare&, const TaskShare&) = default;
};

/// A task that can give way.
struct TaskDemand {
  std::uint64_t states = 0;  ///< bit i: flows of base state i are its
  std::uint64_t fixed = 0;   ///< of these: states in which it never gives way
  std::uint32_t parts = 0;   ///< bit j: what is done for a packet that it looks at; what tasks share is done once
  double recall = 0.75;      ///< wanted
  int priority = 0;          ///< whose turn it is last: that of the largest
  bool by_keys = false;  ///< it adds up flows of a key: a share of them by hash tells nothing, heavy ones nearly all
  double events = 0;     ///< in a window, on average, as far as is known
  double unlike = 0.05;  ///< of recall, for events of few flows, which are the same in all windows
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
  /// What it is to have on average, to have what is wanted in most windows: chance has its way with few events.
  double recall_aimed_at() const noexcept;
};

/// What comes, and what it takes.
struct TaskWork {
  static constexpr std::size_t kMostParts = 32;

  std::span<const double> packets;  ///< by base state and weight (FlowWeight)
  double base_ns = 0;               ///< of every packet
  std::span<const double> part_ns;  ///< by part, of a packet that it is done for; or, of flow_parts, of a flow
  std::uint32_t flow_parts = 0;     ///< bit j: part j is done once for each flow and window
  std::array<double, FlowWeight::kClasses> flows_per_packet{};  ///< by weight, of a window
  std::uint32_t mixed_parts = 0;  ///< bit j: packets for which part j is done, or not, follow no pattern
  double mixed_ns = 0;            ///< that it takes, where it is one packet of two: branches are told wrong
};

/// Which tasks look at what, so that a packet takes no more than there is time for.
///
/// As many tasks as can be have the recall that they want: of those with the highest priority first, and among equals
/// those for which it takes least. Then the others have as much as there is time for, in the same order; then those
/// that have enough have more. Heavy flows are left out first where a task finds more by it: their packets take most
/// of the time, and bring few events. Or light ones, of which there are most.
///
/// Cost:   some 10 us for three tasks; nothing is allocated after the constructor.
/// Source: our own. MONA (Tangari et al., IEEE TNSM 2020) raises the task that is worst off, which is all of them
///         where there is not time for all.
class TaskShares {
 public:
  static constexpr std::size_t kMostTasks = 16;

  explicit TaskShares(std::size_t tasks) : shares_(tasks) {}

  /// How often each part is done for a packet, and by how many such parts packets are mixed: 1 for each that is done
  /// for half of them.
  struct Amounts {
    std::array<double, TaskWork::kMostParts> times{};
    double mixed = 0;
  };
  static Amounts amounts_of(std::span<const TaskDemand> tasks, std::span<const TaskShare> shares,
                            const TaskWork& work) noexcept;

  /// `shares`: one of each task.
  static double packet_ns(std::span<const TaskDemand> tasks, std::span<const TaskShare> shares,
                          const TaskWork& work) noexcept;

  /// One demand of each task, the same tasks each time.
  void choose(std::span<const TaskDemand> tasks, const TaskWork& work, double budget_ns) noexcept;

  std::span<const TaskShare> shares() const noexcept { return shares_; }
  std::uint32_t satisfied() const noexcept { return satisfied_; }  ///< bit i: task i has what it wants
  bool fits() const noexcept { return fits_; }                     ///< false: even with no task at all it takes longer

 private:
  struct Search;

  std::vector<TaskShare> shares_;
  std::uint32_t satisfied_ = 0;
  bool fits_ = true;
};

}  // namespace parshall
