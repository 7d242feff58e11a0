// SPDX-License-Identifier: Apache-2.0
#include "engine/task_groups.hpp"

#include <cstdint>

namespace parshall {
namespace {

/// Returns the states, as bits, that have the task although a lighter one could do without it.
std::uint64_t states_that_can_leave_out(const TaskSet::Member& task, const StatePlan& states) {
  std::uint64_t can = 0;
  for (std::size_t state = 0; state < states.names.size(); ++state) {
    std::size_t lightest = state;
    while (states.lighter[lightest] != lightest) lightest = states.lighter[lightest];
    can |= (task.states >> state & ~(task.states >> lightest) & 1) << state;
  }
  return can;
}

/// Joins two groups of the same states; returns false if there are none. The last of most groups are joined.
bool join(std::vector<std::uint64_t>& states_of_group, std::vector<std::optional<std::size_t>>& of_task) {
  std::size_t most = 1, last = 0;
  for (std::size_t group = 0; group < states_of_group.size(); ++group)
    if (const auto alike = static_cast<std::size_t>(std::ranges::count(states_of_group, states_of_group[group]));
        alike > most || (most > 1 && alike == most && states_of_group[group] == states_of_group[last]))
      most = alike, last = group;
  if (most == 1) return false;
  std::size_t before = last;
  while (states_of_group[--before] != states_of_group[last]) {
  }
  states_of_group.erase(states_of_group.begin() + static_cast<std::ptrdiff_t>(last));
  for (std::optional<std::size_t>& group : of_task) {
    if (!group) continue;
    if (*group == last) group = before;
    if (*group > last) --*group;
  }
  return true;
}

}  // namespace

std::optional<TaskGroups> TaskGroups::make(const TaskSets& tasks, const StatePlan& states) {
  TaskGroups groups;
  std::vector<std::uint64_t> states_of_group;
  const std::uint64_t base_states = ~std::uint64_t{0} >> (64 - states.names.size());
  for (const TaskSet& set : tasks.sets())
    for (const TaskSet::Member& task : set.members()) {
      const bool can_leave_out = (task.measures || task.finds_heavy) && states_that_can_leave_out(task, states) != 0;
      groups.of_task.push_back(can_leave_out ? std::optional(states_of_group.size()) : std::nullopt);
      if (can_leave_out) states_of_group.push_back(task.states & base_states);
    }
  if (states_of_group.empty()) return std::nullopt;
  while (true) {
    auto reduced = ReducedStates::make(states_of_group, states.lighter, StatePlan::kMostStates);
    if (reduced) {
      groups.count = states_of_group.size();
      groups.states = *std::move(reduced);
      return groups;
    }
    if (!join(states_of_group, groups.of_task)) return std::nullopt;
  }
}

}  // namespace parshall
