// SPDX-License-Identifier: Apache-2.0
#include "engine/control_plan.hpp"

#include <algorithm>
#include <utility>

#include "control/task_choice.hpp"

namespace parshall {
namespace {

// These are of PacketCosts (lab/overload/costs.hpp), where a quarter of the packets find their flow in memory.
constexpr double kCountNs = 47, kTcpNs = 81, kIatNs = 19, kRttHistoryNs = 6, kMeasureNs = 6;  ///< per packet
constexpr double kRowNs = 51;                                                                 ///< per flow and window

}  // namespace

void ControlPlan::watch(const TaskSets& tasks) {
  for (const TaskSet& set : tasks.sets())
    for (const TaskSet::Member& task : set.members())
      if (task.skips_flows && task.finds_any) recalls->add(task.name, task.recall);
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

/// Moves parts that all states need, for columns, from the tasks to every packet.
void ControlPlan::charge_packets_for_common_parts() {
  std::uint32_t common = ~kRowPart;
  for (const std::uint32_t parts : parts_of_state) common &= parts;
  for (std::size_t part = 0; part < setup.part_ns.size(); ++part)
    if ((common >> part & 1) != 0) setup.base_ns += std::exchange(setup.part_ns[part], 0);
}

/// Adds a task to its group, which wants the most of what its tasks want.
void ControlPlan::add(const TaskSet::Member& task, std::size_t group) {
  FollowedTask& followed = groups[group];
  followed.states |= task.states & (~std::uint64_t{0} >> (64 - reduced.base_states()));
  followed.by_keys |= !task.measures;
  std::uint32_t parts = ~std::uint32_t{0};  // common to all states of the task
  for (std::size_t state = 0; state < reduced.states(); ++state)
    if ((task.states >> state & 1) != 0) parts &= parts_of_state[state];
  followed.parts |= parts;
  followed.recall = std::max(followed.recall, task.recall);
  followed.priority = std::max(followed.priority, task.priority);
  followed.counts |= task.counts;
}

void ControlPlan::use(TaskGroups made, const StatePlan& states, const TaskSets& tasks,
                      std::span<const WindowPlan> windows, std::span<const FindingNeeds> findings) {
  reduced = std::move(made.states);
  set_parts(windows, findings);
  charge_packets_for_common_parts();
  setup.tasks = made.count;
  setup.lighter = states.lighter;
  groups.assign(made.count, {.recall = 0, .counts = 0});
  tasks_of_group.resize(made.count);
  std::vector<bool> keeps_all(made.count);  // no recall is known of a task that finds nothing
  std::size_t number = 0, board = 0;
  for (const TaskSet& set : tasks.sets())
    for (const TaskSet::Member& task : set.members()) {
      if (task.looks_at_flows && !task.skips_flows)
        setup.always |= task.states & (~std::uint64_t{0} >> (64 - reduced.base_states()));
      const bool is_on_board = task.skips_flows && task.finds_any;
      if (const auto group = made.of_task[number++]) {
        add(task, *group);
        if (is_on_board) tasks_of_group[*group].push_back(board);
        keeps_all[*group] = keeps_all[*group] || !is_on_board;
      }
      board += is_on_board;
    }
  for (std::size_t group = 0; group < made.count; ++group) {
    groups[group].fixed = keeps_all[group] ? groups[group].states : reduced.fixed_states_of(group);
    if (keeps_all[group]) groups[group].counts = 0;
  }
}

}  // namespace parshall
