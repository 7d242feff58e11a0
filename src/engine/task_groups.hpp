// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "pipeline/measure/states/reduced_states.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "pipeline/measure/tasks/registry.hpp"

namespace parshall {

/// Groups of tasks that can leave out flows. Tasks of a group are in the same states and follow the same flows; each
/// task has its own group as far as there are states for that.
struct TaskGroups {
  /// By task, in the order of TaskSets; unset: it follows all flows, since it only counts, or its lightest state has
  /// it.
  std::vector<std::optional<std::size_t>> of_task;
  std::size_t count = 0;
  ReducedStates states;  ///< its tasks are the groups

  std::size_t tasks() const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(of_task, [](const auto& group) { return group.has_value(); }));
  }

  /// Returns nullopt if no task can leave out flows, or if there are too many states.
  static std::optional<TaskGroups> make(const TaskSets& tasks, const StatePlan& states);
};

}  // namespace parshall
