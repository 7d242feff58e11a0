// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/mona/mona_policy.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

namespace parshall::lab {
namespace {

constexpr double kRowsPerPacket = 0.25;  ///< rough

/// Returns what a packet costs in each state, beyond what it costs without tasks.
std::vector<double> costs_of(const OverloadSetup& setup) {
  std::vector<double> costs_ns;
  for (const std::uint32_t parts : setup.parts_of_state) {
    double ns = 0;
    for (std::uint32_t left = parts; left != 0; left &= left - 1) {
      const auto part = static_cast<std::size_t>(std::countr_zero(left));
      ns += setup.part_ns[part] * ((setup.flow_parts >> part & 1) != 0 ? kRowsPerPacket : 1);
    }
    costs_ns.push_back(ns);
  }
  return costs_ns;
}

/// Leaves out steps to states that are not lighter, which would only cost accuracy.
StateGraph graph_of(const OverloadSetup& setup) {
  const std::vector<double> costs_ns = costs_of(setup);
  std::vector<StateGraph::State> states;
  for (std::size_t state = 0; state < costs_ns.size(); ++state) {
    std::uint8_t next = setup.lighter[state];
    while (costs_ns[next] >= costs_ns[state] && setup.lighter[next] != next) next = setup.lighter[next];
    states.push_back({.name = std::to_string(state),
                      .lighter = costs_ns[next] < costs_ns[state] ? next : static_cast<std::uint8_t>(state),
                      .cost_ns = costs_ns[state]});
  }
  return *StateGraph::make(std::move(states));
}

constexpr OverloadPolicyEntry kPolicies[] = {
    {"mona", "MONA: flows move to lighter states, and the task that finds least gets more",
     [](const OverloadSetup& setup) -> std::unique_ptr<OverloadPolicy> {
       return std::make_unique<MonaPolicy>(setup, Controller::Mode::recover);
     }},
    {"mona-adapt", "MONA's adaptation alone: flows move to lighter states, whatever tasks find",
     [](const OverloadSetup& setup) -> std::unique_ptr<OverloadPolicy> {
       return std::make_unique<MonaPolicy>(setup, Controller::Mode::adapt);
     }},
};

}  // namespace

std::span<const OverloadPolicyEntry> mona_policies() noexcept { return kPolicies; }

MonaPolicy::MonaPolicy(const OverloadSetup& setup, Controller::Mode mode)
    : controller_(graph_of(setup), PacketTime{.input_ns = setup.base_ns}, {.mode = mode, .recovery = {}, .costs = {}}),
      states_of_task_(setup.tasks),
      base_packets_(setup.parts_of_state.size()),
      packets_(base_packets_.size()),
      installed_(controller_.allocation()) {
  tasks_.reserve(setup.tasks);
}

bool MonaPolicy::end_window(const ControlWindow& window, std::span<const FollowedTask> tasks) noexcept {
  const std::uint8_t heavy_from = controller_.heavy_from();
  const std::span<const std::uint8_t> lightest = controller_.graph().after(controller_.graph().depth());
  std::ranges::fill(packets_, 0.0);
  for (std::size_t base = 0; base < base_packets_.size(); ++base) {
    const auto by_weight = window.packets.subspan(base * FlowWeight::kClasses, FlowWeight::kClasses);
    base_packets_[base] = std::accumulate(by_weight.begin(), by_weight.end(), 0.0);
    const double heavy = std::accumulate(by_weight.begin() + heavy_from, by_weight.end(), 0.0);
    packets_[lightest[base]] += heavy;
    installed_.each_part(static_cast<std::uint8_t>(base),
                         [&](std::uint8_t to, double share) { packets_[to] += share * (base_packets_[base] - heavy); });
  }
  tasks_.clear();
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    const FollowedTask& of = tasks[task];
    states_of_task_[task] = of.counts == 0 ? ~std::uint64_t{0} : of.states;  // it follows all flows
    const auto& events = of.events[static_cast<std::size_t>(EventMeasure::flows)];
    const double all = std::accumulate(events.begin(), events.end(), 0.0);
    GapRecovery::Task told{.states = of.states, .threshold = of.recall, .recall = of.found};
    for (std::size_t weight = FlowWeight::kClasses; weight-- > 0 && of.knows_weights && all > 0;)
      told.heavy_share[weight] =
          std::accumulate(events.begin() + static_cast<std::ptrdiff_t>(weight), events.end(), 0.0) / all;
    tasks_.push_back(told);
  }
  controller_.end_window({.window_ns = window.window_ns,
                          .busy_ns = window.busy_ns,
                          .offered = window.offered,
                          .counted = window.counted,
                          .missed = window.missed,
                          .new_flows = window.new_flows,
                          .hit_probability = std::nullopt,
                          .base_packets = base_packets_,
                          .packets = packets_,
                          .weighed_packets = window.packets},
                         tasks_);
  const bool changed = controller_.heavy_from() != heavy_from || controller_.allocation() != installed_;
  installed_ = controller_.allocation();
  return changed;
}

double MonaPolicy::share(std::size_t task, std::size_t state, std::size_t weight) const noexcept {
  const auto base = static_cast<std::uint8_t>(state);
  const StateGraph& graph = controller_.graph();
  if (weight >= controller_.heavy_from())
    return static_cast<double>(states_of_task_[task] >> graph.after(graph.depth())[base] & 1);
  double followed = 0;
  installed_.each_part(base, [&](std::uint8_t to, double share) {
    if ((states_of_task_[task] >> to & 1) != 0) followed += share;
  });
  return std::min(1.0, followed);
}

OverloadState MonaPolicy::state() const noexcept {
  const Shift shift = controller_.shift();
  return {.is_reduced = shift.steps != 0 || controller_.heavy_from() != FlowWeight::kClasses,
          .fits = !shift.infeasible,
          .given_up = 0,
          .factor = 1 + controller_.residual()};
}

}  // namespace parshall::lab
