// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/mona/gap_recovery.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace parshall::lab {
namespace {

constexpr double kWhole = 0.99;  ///< share of a step that counts as all of it
constexpr int kRounds = 4;       ///< rounds of redistributing what some poor states could not use

}  // namespace

GapRecovery::GapRecovery(const StateGraph& graph, Options options) : options_(options), states_(graph.size()) {
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (graph[i].cost_ns < graph[lightest_].cost_ns) lightest_ = static_cast<std::uint8_t>(i);
  for (State& state : states_) state.step = options_.first_step;
}

double GapRecovery::changed_step(double step, bool grows) const noexcept {
  const bool adds = (grows ? options_.grows : options_.shrinks) == StepChange::add;
  const double other = adds ? step + (grows ? options_.added_step : -options_.added_step) : step * (grows ? 2 : 0.5);
  return std::clamp(other, options_.least_step, options_.largest_step);
}

/// Judges the states. A step grows while the remaining margin is more than the last step took; otherwise it shrinks.
void GapRecovery::judge(std::span<const Task> tasks) noexcept {
  std::uint64_t known = 0, unknown = 0;
  std::array<double, StateGraph::kMostStates> worst;
  worst.fill(std::numeric_limits<double>::infinity());
  for (const Task& task : tasks) {
    const double headroom = task.recall.value_or(std::nan("")) - task.threshold;
    (std::isfinite(headroom) ? known : unknown) |= task.states;
    if (!std::isfinite(headroom)) continue;
    for (std::uint64_t left = task.states; left != 0; left &= left - 1) {
      double& least = worst[static_cast<std::size_t>(std::countr_zero(left))];
      least = std::min(least, headroom);
    }
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    const std::optional<double> before = state.headroom;
    state.headroom = known >> i & 1 ? std::optional(worst[i]) : std::nullopt;
    state.is_rich = state.headroom > options_.headroom && (unknown >> i & 1) == 0;
    if (!state.gave || !before || !state.headroom) continue;
    const bool is_much_left = *state.headroom > *before - *state.headroom;
    if (is_much_left && !state.gave_whole_step) continue;
    state.step = changed_step(state.step, is_much_left);
  }
}

/// Computes packet costs by base state, and the part of the biases that leaves the total unchanged.
void GapRecovery::price(const StateGraph& graph, std::span<const double> base_packets,
                        const Allocation& adapted) noexcept {
  double all = 0, taken_ns = 0, saved_ns = 0;
  const auto packets_of = [&](std::size_t i) { return i < base_packets.size() ? base_packets[i] : 0; };
  for (std::size_t i = 0; i < states_.size(); ++i) all += packets_of(i);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    state.share = all > 0 ? packets_of(i) / all : 0;
    state.adapted_ns = adapted.cost_ns(graph, static_cast<std::uint8_t>(i));
    const double end_ns = graph.costs_ns()[state.bias > 0 ? i : lightest_];
    state.now_ns = state.adapted_ns + std::abs(state.bias) * (end_ns - state.adapted_ns);
    (state.taken_ns() > 0 ? taken_ns : saved_ns) += std::abs(state.taken_ns());
  }
  for (State& state : states_) {
    const double side_ns = state.taken_ns() > 0 ? taken_ns : saved_ns;
    const double part = side_ns > 0 ? std::min(taken_ns, saved_ns) / side_ns : 0;
    state.in_force = part * state.bias;
    state.now_ns = state.adapted_ns + part * (state.now_ns - state.adapted_ns);
  }
}

/// Returns the time that a rich state can give in this window.
double GapRecovery::spare_ns(const StateGraph& graph, const State& state) const noexcept {
  if (!state.is_rich) return 0;
  const double part = std::min(state.step, options_.largest_part * state.share);
  return part * std::max(0.0, state.now_ns - graph.costs_ns()[lightest_]);
}

/// Returns the time that a poor state can take back in this window, of what it gave before.
double GapRecovery::owed_ns(const StateGraph& graph, const State& state) const noexcept {
  if (!state.is_poor() || state.taken_ns() >= 0) return 0;
  const double whole_ns = state.share * (state.adapted_ns - graph.costs_ns()[lightest_]);
  return std::min(-state.taken_ns(), options_.largest_part * whole_ns);
}

/// Gives equal parts to poor states that gave nothing, as far as they can use them. Returns the rest.
double GapRecovery::give_to_poor(const StateGraph& graph, double left_ns) noexcept {
  const auto use_ns = [&](std::size_t i) {
    const State& state = states_[i];
    if (!state.is_poor() || state.taken_ns() < 0) return 0.0;
    return state.share * std::max(0.0, graph.costs_ns()[i] - state.now_ns);
  };
  for (int round = 0; round < kRounds && left_ns > 0; ++round) {
    double users = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) users += use_ns(i) > 0;
    if (users == 0) break;
    const double part_ns = left_ns / users;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const double had_ns = std::min(part_ns, use_ns(i));
      if (had_ns <= 0) continue;
      states_[i].now_ns += had_ns / states_[i].share;
      left_ns -= had_ns;
    }
  }
  return std::max(0.0, left_ns);
}

/// Takes the time from rich states.
void GapRecovery::charge(const StateGraph& graph, double part) noexcept {
  for (State& state : states_) {
    const double given_ns = part * spare_ns(graph, state);
    state.gave = given_ns > 0;
    state.gave_whole_step = state.gave && part > kWhole;
    if (state.gave) state.now_ns -= given_ns / state.share;
  }
}

/// Repays poor states that gave time before: with what rich states repay, and otherwise with what others took from
/// them.
bool GapRecovery::repay(const StateGraph& graph, double owed, double repaid) noexcept {
  if (owed <= 0) return false;
  double taken = 0;
  for (const State& state : states_) taken += std::max(0.0, state.taken_ns());
  const double by_takers = std::min(owed - repaid, taken);
  for (State& state : states_) {
    if (const double is_owed = owed_ns(graph, state); is_owed > 0)
      state.now_ns += is_owed / owed * (repaid + by_takers) / state.share;
    else if (by_takers > 0 && state.taken_ns() > 0)
      state.now_ns -= by_takers / taken * (state.now_ns - state.adapted_ns);
  }
  return repaid + by_takers > 0;
}

/// Computes the biases that correspond to the current costs.
void GapRecovery::settle(const StateGraph& graph) noexcept {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    if (state.share <= 0) continue;
    const double more_ns = state.now_ns - state.adapted_ns;
    const double whole_ns = graph.costs_ns()[more_ns > 0 ? i : lightest_] - state.adapted_ns;
    const double part = whole_ns == 0 ? 0 : std::clamp(more_ns / whole_ns, 0.0, 1.0);
    state.bias = more_ns > 0 ? part : -part;
  }
}

bool GapRecovery::step(const StateGraph& graph, std::span<const Task> tasks, std::span<const double> base_packets,
                       const Allocation& adapted) noexcept {
  judge(tasks);
  price(graph, base_packets, adapted);
  double spare = 0, owed = 0;
  for (const State& state : states_) spare += spare_ns(graph, state), owed += owed_ns(graph, state);
  const double repaid = std::min(owed, spare), given = spare - give_to_poor(graph, spare - repaid);
  charge(graph, spare > 0 ? given / spare : 0);
  const bool changed = repay(graph, owed, repaid) || given > 0;
  if (changed) settle(graph);
  return changed;
}

void GapRecovery::apply(const StateGraph& graph, std::span<const double> base_packets, Allocation& adapted) noexcept {
  price(graph, base_packets, adapted);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const auto base = static_cast<std::uint8_t>(i);
    const double part = states_[i].in_force;
    if (part == 0) continue;
    const std::uint8_t to = part > 0 ? base : lightest_;
    adapted.gather(base, to, std::abs(part));
  }
}

}  // namespace parshall::lab
