// SPDX-License-Identifier: Apache-2.0
#include "engine/task_groups.hpp"

#include <algorithm>

namespace parshall {

std::optional<TaskGroups> TaskGroups::make(const TaskSets& tasks, const StatePlan& states) {
  std::vector<const TaskSet::Member*> leaving;
  for (const TaskSet& set : tasks.sets())
    for (const TaskSet::Member& task : set.members())
      if (can_leave_out(task)) leaving.push_back(&task);
  if (leaving.empty()) return std::nullopt;
  for (std::size_t count = std::min(leaving.size(), ReducedStates::kMostTasks); count > 0; --count) {
    TaskGroups groups{.of_task = {}, .count = count, .states = {}};
    std::vector<std::uint64_t> states_of(count);
    for (std::size_t task = 0; task < leaving.size(); ++task) {
      groups.of_task.push_back(task * count / leaving.size());
      states_of[groups.of_task.back()] |= leaving[task]->states;
    }
    auto reduced = ReducedStates::make(states_of, states.lighter, StatePlan::kMostStates);
    if (!reduced) continue;
    groups.states = *std::move(reduced);
    return groups;
  }
  return std::nullopt;
}

}  // namespace parshall
