// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/flow_weight.hpp"
#include "control/followed_task.hpp"

namespace parshall {

/// Traffic of a window, and its costs.
struct TaskWork {
  static constexpr std::size_t kMostParts = 32;

  std::span<const double> packets;  ///< by base state and weight (FlowWeight)
  double base_ns = 0;               ///< for every packet
  std::span<const double> part_ns;  ///< by part: cost per packet it is done for; for flow_parts, per flow
  std::uint32_t flow_parts = 0;     ///< bit j: part j is done once per flow and window
  std::array<double, FlowWeight::kClasses> flows_per_packet{};  ///< flows per packet of a window, by weight
  std::uint64_t always = 0;  ///< bit i: part 0 is done for all of base state i, whatever tasks follow
};

/// Chooses for each task and weight the share of flows that it follows, within the time that a packet may take.
///
/// Each task follows flows of those weights that show most of its events for their time, until it finds the recall that
/// it wants. Where that is too much for all, some goals are given up; a goal is a task by one measure. The chosen set
/// of goals has the largest expected gain over no adaptation, by the measure that gains less. Where priorities differ,
/// and with many goals, the goal goes whose absence saves most, of the lowest priority first. The rest of the time goes
/// to a margin for chance, then to what was given up.
///
/// Cost:   a choice for four tasks takes 0.05 to 0.5 ms, for sixteen 17 ms; nothing is allocated after the constructor.
/// Error:  with more than six goals, or different priorities, their sets are not all tried.
/// Source: our own. MONA (Tangari et al., IEEE/ACM ToN 2020) leaves out shares of all flows, by hash.
class TaskChoice {
 public:
  using ByWeight = FollowedTask::ByWeight;

  explicit TaskChoice(std::size_t tasks);

  struct Plan {
    std::array<ByWeight, FollowedTask::kMost> shares{};
    double packet_ns = 0;
    double score = -1e9;      ///< tasks satisfied in a window, above those without adaptation
    std::uint32_t goals = 0;  ///< those that it satisfies; bit FollowedTask::kMost * EventMeasure + task
  };

  /// Sets traffic and events: as many tasks as the constructor was given. The memory behind the spans of `work` is not
  /// used later.
  void set(std::span<const FollowedTask> tasks, const TaskWork& work) noexcept;

  /// Returns the plan in which all tasks follow all flows.
  Plan all() const noexcept;
  double packet_ns(const Plan& plan) const noexcept;
  /// Returns the time of a packet where tasks leave out all that they can.
  double least_ns() const noexcept { return packet_ns(least(0)); }

  /// Returns the best plan whose packets take at most `budget_ns`; if none fits, one with tasks by keys alone. Gives
  /// `now` the time and the score that it has in this traffic.
  Plan choose(double budget_ns, Plan& now) noexcept;

  /// Returns how often a part of the work is done for a packet.
  double times(const Plan& plan, std::size_t part) const noexcept;

 private:
  static constexpr std::size_t kGoals = kEventMeasures * FollowedTask::kMost;

  /// Packets for which a part is done if one of some tasks follows their flow.
  struct PartOfWork {
    std::size_t part;
    std::uint32_t tasks;
    bool is_always;
    ByWeight packets;  ///< share of all packets; for parts done once a flow, of flows
  };
  /// What it takes of a mean packet if one of some tasks follows all flows.
  struct Group {
    std::uint32_t tasks;
    ByWeight ns;
  };
  using ByGoal = std::array<double, kGoals>;

  static std::size_t task_of(std::size_t goal) noexcept { return goal % FollowedTask::kMost; }
  static double share_of(std::uint32_t tasks, const Plan& plan, std::size_t weight) noexcept;
  double found(const Plan& plan, std::size_t goal) const noexcept;
  double deviation(std::size_t goal, double recall) const noexcept;
  double chance(std::size_t goal, double recall) const noexcept;
  double score(const Plan& plan) const noexcept;
  bool is_whole(std::size_t task, std::size_t weight) const noexcept;
  struct Step;
  Step step_of(const Plan& plan, std::size_t task, std::size_t first, std::size_t last, std::uint32_t missing,
               const ByGoal& aims, const ByGoal& finds) const noexcept;
  void raise(Plan& plan, std::uint32_t goals, const ByGoal& aims, double budget_ns, double most_ns) const noexcept;
  Plan least(double probe) const noexcept;
  Plan satisfy(std::uint32_t goals, double deviations, double most_ns) const noexcept;
  void fill(Plan& plan, double budget_ns) const noexcept;
  bool is_better(const Plan& plan, const Plan& best) const noexcept;
  int priority_of(std::uint32_t goals) const noexcept;
  double rank(std::uint32_t goals) const noexcept;
  void consider(Plan plan, double budget_ns, Plan& best) const noexcept;
  void choose_goals(double deviations, double budget_ns, Plan& best) const noexcept;

  std::size_t count_;
  std::array<FollowedTask, FollowedTask::kMost> tasks_;
  std::vector<PartOfWork> work_;
  std::vector<Group> groups_;
  double always_ns_ = 0;                      ///< of every packet, and of what is always done
  std::uint32_t goals_ = 0, kept_ = 0;        ///< goals, and those of tasks by keys
  bool are_alike_ = true;                     ///< all tasks have the same priority
  ByGoal events_{}, without_{};               ///< in a window; chance of being satisfied without adaptation
  std::array<ByWeight, kGoals> by_weight_{};  ///< share of the events
};

}  // namespace parshall
