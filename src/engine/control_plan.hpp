// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "control/overload_policy.hpp"
#include "engine/recall_board.hpp"
#include "engine/task_groups.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "pipeline/measure/tasks/registry.hpp"

namespace parshall {

/// Plan for what tasks leave out under overload.
struct ControlPlan {
  static constexpr std::uint32_t kRowPart = 1;  ///< part of the work: a flow has a row in its window

  const OverloadPolicyEntry* policy = &overload_policies().front();
  OverloadSetup setup;
  ReducedStates reduced;                                 ///< its tasks are groups
  std::vector<std::uint32_t> parts_of_state;             ///< bit j: the j-th part; for all states of `reduced`
  std::vector<FollowedTask> groups;                      ///< what is constant about each; empty: no flow is left out
  std::vector<std::vector<std::size_t>> tasks_of_group;  ///< numbers on the board
  std::uint64_t window_ns = 10'000'000;
  std::size_t batch = 256;  ///< packets asked of a source at a time
  std::shared_ptr<RecallBoard> recalls = std::make_shared<RecallBoard>();

  /// Makes the run report what tasks miss when flows are left out.
  void watch(const TaskSets& tasks);

  /// Lets groups of tasks leave out flows. `tasks` are made for the groups' states, and `windows` and `findings` are
  /// those of all these states. Costs are rough, from one machine: only the starting point for learning.
  void use(TaskGroups made, const StatePlan& states, const TaskSets& tasks, std::span<const WindowPlan> windows,
           std::span<const FindingNeeds> findings);

 private:
  void set_parts(std::span<const WindowPlan> windows, std::span<const FindingNeeds> findings);
  void charge_packets_for_common_parts();
  void add(const TaskSet::Member& task, std::size_t group);
};

}  // namespace parshall
