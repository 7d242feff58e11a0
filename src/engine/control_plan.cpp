// SPDX-License-Identifier: Apache-2.0
#include "engine/control_plan.hpp"

#include <algorithm>
#include <utility>

#include "control/task_choice.hpp"

namespace parshall {
namespace {

// Of PacketCosts (lab/overload/costs.hpp), where a quarter of the packets find their flow in memory.
constexpr double kCountNs = 68, kTcpNs = 81, kIatNs = 19, kRttHistoryNs = 6, kMeasureNs = 6;  ///< per packet
constexpr double kRowNs = 51;                                                                 ///< per flow and window

}  // namespace

void ControlPlan::watch(const TaskSets& tasks) {
  for (const TaskSet& set : tasks.sets())
    for (const TaskSet::Member& task : set.members())
      if (task.gives_way && task.finds_any) recalls->add(task.name, task.recall);
}

/// Sets the parts of the work, and which of them each state needs.
void ControlPlan::set_parts(std::span<const WindowPlan> windows, std::span<const FindingNeeds> findings) {
  setup.base_ns = kCountNs;
  setup.part_ns = {kRowNs, kTcpNs, kIatNs, kRttHistoryNs};
  setup.flow_parts = kRowPart;
  std::vector<std::pair<const WindowPlan*, std::size_t>> measures;  // of each part beyond these
  for (const WindowPlan& window : windows)
    for (std::size_t i = 0; i < window.measures->measures().size() && setup.part_ns.size() < TaskWork::kMostParts;
         ++i) {
      measures.emplace_back(&window, i);
      setup.part_ns.push_back(kMeasureNs);
    }
  for (std::size_t state = 0; state < reduced.states(); ++state) {
    const FindingNeeds& needs = findings[state];
    std::uint32_t parts = kRowPart | needs.tcp << 1 | needs.iat << 2 | needs.rtt_history << 3;
    for (std::size_t i = 0; i < measures.size(); ++i)
      parts |= static_cast<std::uint32_t>(measures[i].first->by_state[state] >> measures[i].second & 1) << (4 + i);
    parts_of_state.push_back(parts);
  }
  setup.parts_of_state.assign(parts_of_state.begin(),
                              parts_of_state.begin() + static_cast<std::ptrdiff_t>(reduced.base_states()));
}

/// Adds a task to its group, which wants the most of what its tasks want.
void ControlPlan::add(const TaskSet::Member& task, std::size_t group, std::optional<std::size_t> board) {
  FollowedTask& followed = groups[group];
  followed.states |= task.states & (~std::uint64_t{0} >> (64 - reduced.base_states()));
  followed.fixed = reduced.fixed_states_of(group);
  followed.by_keys |= !task.measures;
  std::uint32_t parts = ~std::uint32_t{0};  // common to all states of the task
  for (std::size_t state = 0; state < reduced.states(); ++state)
    if ((task.states >> state & 1) != 0) parts &= parts_of_state[state];
  followed.parts |= parts;
  if (!board) {  // no recall is known of a task that finds nothing, so its group follows all flows
    followed.fixed = followed.states;
    return;
  }
  followed.recall = std::max(followed.recall, task.recall);
  followed.priority = std::max(followed.priority, task.priority);
  followed.counts |= task.counts;
  tasks_of_group[group].push_back(*board);
}

void ControlPlan::use(TaskGroups made, const StatePlan& states, const TaskSets& tasks,
                      std::span<const WindowPlan> windows, std::span<const FindingNeeds> findings) {
  reduced = std::move(made.states);
  set_parts(windows, findings);
  setup.tasks = made.count;
  setup.lighter = states.lighter;
  groups.assign(made.count, {.recall = 0, .counts = 0});
  tasks_of_group.resize(made.count);
  std::size_t number = 0, board = 0;
  for (const TaskSet& set : tasks.sets())
    for (const TaskSet::Member& task : set.members()) {
      if (task.looks_at_flows && !task.gives_way)
        setup.always |= task.states & (~std::uint64_t{0} >> (64 - reduced.base_states()));
      const bool is_on_board = task.gives_way && task.finds_any;
      if (TaskGroups::can_leave_out(task))
        add(task, made.of_task[number++], is_on_board ? std::optional(board) : std::nullopt);
      board += is_on_board;
    }
}

}  // namespace parshall
