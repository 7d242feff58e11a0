// SPDX-License-Identifier: Apache-2.0
#include "engine/control_plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace parshall {
namespace {

// Rough values from one machine: they only set the starting point for learning, and the order of states.
constexpr double kIatNs = 6, kTcpNs = 42, kRttHistoryNs = 6, kMeasureNs = 6;
constexpr double kStatesNs = 5;  ///< per packet, to find its flow's state and weight
constexpr double kRowNs = 86;    ///< per flow and window
constexpr PacketTime kPacket{.input_ns = 10, .new_flow_ns = 210, .cached_ns = 15, .uncached_ns = 40};

double guessed_ns(const FindingNeeds& needs, std::uint64_t measures) noexcept {
  return needs.iat * kIatNs + needs.tcp * kTcpNs + needs.rtt_history * kRttHistoryNs +
         static_cast<double>(std::popcount(measures)) * kMeasureNs;
}

}  // namespace

std::string_view name_of(Controller::Mode mode) noexcept {
  switch (mode) {
    case Controller::Mode::none:
      return "no-adapt";
    case Controller::Mode::adapt:
      return "adapt-only";
    default:
      return "accuracy";
  }
}

ControlPlan ControlPlan::guess(const StatePlan& states, std::span<const WindowPlan> windows,
                               std::span<const FindingNeeds> findings) {
  ControlPlan plan;
  plan.packet = kPacket;
  for (std::size_t state = 0; state < states.names.size(); ++state) {
    double cost_ns = guessed_ns(findings[state], 0);
    for (const WindowPlan& window : windows) cost_ns += guessed_ns({}, window.by_state[state]);
    plan.cost_ns.push_back(cost_ns);
  }
  plan.leave_out_steps(states);
  return plan;
}

/// Removes steps to lighter states that save nothing, since they would only cost accuracy; continues with the next one
/// that saves, or none.
void ControlPlan::leave_out_steps(const StatePlan& states) {
  lighter.clear();
  for (std::size_t state = 0; state < states.names.size(); ++state) {
    std::uint8_t next = states.lighter[state];
    while (cost_ns[next] >= cost_ns[state] && states.lighter[next] != next) next = states.lighter[next];
    lighter.push_back(cost_ns[next] < cost_ns[state] ? next : static_cast<std::uint8_t>(state));
  }
}

std::optional<Error> ControlPlan::use(const Profile& profile, const StatePlan& states,
                                      const std::vector<std::vector<std::string>>& tasks) {
  for (std::size_t state = 0; state < states.names.size(); ++state) {
    const auto known = std::ranges::find(profile.states, states.names[state], &Profile::Cost::name);
    if (known == profile.states.end()) return Error{"it has no state " + states.names[state]};
    if (known->tasks != tasks[state]) return Error{"its state " + states.names[state] + " has other tasks"};
    cost_ns[state] = known->cost_ns;
  }
  packet = profile.time;
  // Costs as the stage finds flows: in batches.
  packet.cached_ns = profile.cached.batched_ns;
  packet.uncached_ns = profile.uncached.batched_ns;
  packet.new_flow_ns = profile.new_flow_batched_ns;
  leave_out_steps(states);
  return std::nullopt;
}

void ControlPlan::watch(const TaskSets& tasks) {
  for (const TaskSet& set : tasks.sets())
    for (const TaskSet::Member& task : set.members())
      if (task.gives_way && task.finds_any) recalls->add(task.name, task.states, task.recall);
}

void ControlPlan::use(ReducedStates states, const TaskSets& tasks, std::span<const WindowPlan> windows,
                      std::span<const FindingNeeds> findings) {
  policy = ControlPolicy::tasks;
  reduced = std::move(states);
  packet.input_ns += kStatesNs;
  part_ns = {kRowNs, kTcpNs, kIatNs, kRttHistoryNs};
  std::vector<std::pair<const WindowPlan*, std::size_t>> measures;  // of each part beyond these
  for (const WindowPlan& window : windows)
    for (std::size_t i = 0; i < window.measures->measures().size() && part_ns.size() < TaskWork::kMostParts; ++i) {
      measures.emplace_back(&window, i);
      part_ns.push_back(kMeasureNs);
    }
  for (std::size_t state = 0; state < reduced.states(); ++state) {
    const FindingNeeds& needs = findings[state];
    std::uint32_t parts = kRowPart | needs.tcp << 1 | needs.iat << 2 | needs.rtt_history << 3;
    for (std::size_t i = 0; i < measures.size(); ++i)
      parts |= static_cast<std::uint32_t>(measures[i].first->by_state[state] >> measures[i].second & 1) << (4 + i);
    parts_of_state.push_back(parts);
  }
  std::size_t number = 0;
  for (const TaskSet& set : tasks.sets())
    for (const TaskSet::Member& task : set.members()) {
      const std::uint64_t base_states = task.states & (~std::uint64_t{0} >> (64 - reduced.base_states()));
      if (task.looks_at_flows && !task.gives_way) always_rows |= base_states;
      if (!task.gives_way || !task.finds_any) continue;
      TaskDemand demand;
      demand.states = base_states;
      demand.fixed = reduced.fixed_states_of(number++);
      demand.recall = task.recall;
      demand.priority = task.priority;
      demand.by_keys = !task.measures;
      demand.parts = ~std::uint32_t{0};  // parts common to all states of the task
      for (std::size_t state = 0; state < reduced.states(); ++state)
        if ((task.states >> state & 1) != 0) demand.parts &= parts_of_state[state];
      demands.push_back(demand);
    }
}

Result<StateGraph> ControlPlan::graph(const StatePlan& states) const {
  std::vector<StateGraph::State> made;
  for (std::size_t state = 0; state < states.names.size(); ++state)
    made.push_back({states.names[state], lighter[state], cost_ns[state]});
  return StateGraph::make(std::move(made));
}

}  // namespace parshall
