// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "pipeline/measure/states/reduced_states.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "pipeline/measure/tasks/registry.hpp"

namespace parshall {

/// Groups of tasks that can leave out flows. Tasks of a group follow the same flows; each task has its own group as far
/// as there are states for that.
struct TaskGroups {
  std::vector<std::size_t> of_task;  ///< by task that can leave out flows, in the order of TaskSets
  std::size_t count = 0;
  ReducedStates states;  ///< its tasks are the groups

  static bool can_leave_out(const TaskSet::Member& task) noexcept { return task.measures || task.finds_heavy; }

  /// Returns nullopt if no task can leave out flows, or if there are too many states.
  static std::optional<TaskGroups> make(const TaskSets& tasks, const StatePlan& states);
};

}  // namespace parshall
