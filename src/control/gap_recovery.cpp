// SPDX-License-Identifier: Apache-2.0
#include "control/gap_recovery.hpp"

#include <algorithm>
#include <cmath>

namespace parshall {

GapRecovery::GapRecovery(const StateGraph& graph, Options options) : options_(options), states_(graph.size()) {
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (graph[i].cost_ns < graph[lightest_].cost_ns) lightest_ = static_cast<std::uint8_t>(i);
  forget();
}

void GapRecovery::forget() noexcept {
  for (State& state : states_) state = {.headroom = std::nullopt, .step = options_.least_step};
}

/// Steps of rich states grow while more is left than the last window took, and shrink where not.
void GapRecovery::judge(std::span<const Task> tasks) noexcept {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    const std::optional<double> before = state.headroom;
    state.headroom.reset();
    bool all_known = true;
    for (const Task& task : tasks) {
      if ((task.states >> i & 1) == 0) continue;
      if (!task.recall) {
        all_known = false;
        continue;
      }
      const double headroom = *task.recall - task.threshold;
      state.headroom = std::min(state.headroom.value_or(headroom), headroom);
    }
    state.is_rich = all_known && state.headroom && *state.headroom > options_.headroom;
    if (!state.is_rich) continue;
    const double decrease = before ? *before - *state.headroom : 0;
    state.step =
        std::clamp(state.step * (*state.headroom > decrease ? 2 : 0.5), options_.least_step, options_.largest_step);
  }
}

GapRecovery::Cost GapRecovery::cost_of(const StateGraph& graph, std::size_t state,
                                       const Allocation& adapted) const noexcept {
  double adapted_ns = 0;
  for (std::size_t i = 0; i < graph.size(); ++i)
    adapted_ns += adapted.share(static_cast<std::uint8_t>(state), static_cast<std::uint8_t>(i)) * graph[i].cost_ns;
  const double bias = states_[state].bias;
  const double end_ns = graph[bias > 0 ? state : lightest_].cost_ns;
  return {adapted_ns, adapted_ns + std::abs(bias) * (end_ns - adapted_ns)};
}

/// The bias with which the state's packets take `now_ns`.
double GapRecovery::bias_for(const StateGraph& graph, std::size_t state, Cost cost) const noexcept {
  const bool is_back = cost.now_ns > cost.adapted_ns;
  const double whole_ns = graph[is_back ? state : lightest_].cost_ns - cost.adapted_ns;
  if (whole_ns == 0) return 0;
  const double part = std::min(1.0, (cost.now_ns - cost.adapted_ns) / whole_ns);
  return is_back ? part : -part;
}

bool GapRecovery::step(const StateGraph& graph, std::span<const Task> tasks, std::span<const double> base_packets,
                       const Allocation& adapted) noexcept {
  judge(tasks);
  double all = 0, poor_states = 0;
  for (const double packets : base_packets) all += packets;
  for (const State& state : states_) poor_states += state.headroom && *state.headroom < 0;
  if (poor_states == 0 || all <= 0) return false;
  bool changed = false;
  for (std::size_t rich = 0; rich < states_.size(); ++rich) {
    if (!states_[rich].is_rich || base_packets[rich] <= 0) continue;
    for (std::size_t poor = 0; poor < states_.size(); ++poor) {
      if (!(states_[poor].headroom && *states_[poor].headroom < 0) || base_packets[poor] <= 0) continue;
      Cost gives = cost_of(graph, rich, adapted), takes = cost_of(graph, poor, adapted);
      const double rich_share = base_packets[rich] / all, poor_share = base_packets[poor] / all;
      const double spare_ns = gives.now_ns - graph[lightest_].cost_ns;
      const double saved_ns = std::min(states_[rich].step / poor_states, rich_share) * spare_ns;
      const double moved_ns = std::min(saved_ns, poor_share * (graph[poor].cost_ns - takes.now_ns));
      if (moved_ns <= 0) continue;
      gives.now_ns -= moved_ns / rich_share;
      takes.now_ns += moved_ns / poor_share;
      states_[rich].bias = bias_for(graph, rich, gives);
      states_[poor].bias = bias_for(graph, poor, takes);
      changed = true;
    }
  }
  return changed;
}

void GapRecovery::apply(Allocation& adapted) const noexcept {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const auto base = static_cast<std::uint8_t>(i);
    const double bias = states_[i].bias;
    const std::uint8_t to = bias > 0 ? base : lightest_;
    for (std::size_t from = 0; from < states_.size(); ++from)
      if (from != to)
        adapted.move(base, static_cast<std::uint8_t>(from), to,
                     std::abs(bias) * adapted.share(base, static_cast<std::uint8_t>(from)));
  }
}

}  // namespace parshall
