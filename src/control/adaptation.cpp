// SPDX-License-Identifier: Apache-2.0
#include "control/adaptation.hpp"

#include <algorithm>
#include <numeric>

namespace parshall {
namespace {

using States = std::array<std::uint8_t, 64>;

States own(const StateGraph& graph) noexcept {
  States states;
  std::iota(states.begin(), states.begin() + graph.size(), std::uint8_t{0});
  return states;
}

/// Whether any went to another state.
bool step(const StateGraph& graph, States& states) noexcept {
  bool moved = false;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::uint8_t lighter = graph.lighter(states[i]);
    moved |= lighter != states[i];
    states[i] = lighter;
  }
  return moved;
}

double mean_cost_ns(const StateGraph& graph, const States& states, std::span<const double> packets) noexcept {
  double cost_ns = 0, all = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    cost_ns += packets[i] * graph[states[i]].cost_ns;
    all += packets[i];
  }
  return all > 0 ? cost_ns / all : 0;
}

}  // namespace

Shift shift_to(const StateGraph& graph, std::span<const double> base_packets, double target_ns) noexcept {
  States states = own(graph);
  Shift shift;
  double cost_ns = mean_cost_ns(graph, states, base_packets);
  while (cost_ns > target_ns) {
    if (!step(graph, states)) return {shift.steps, 1, /*infeasible=*/true};
    const double before_ns = cost_ns;
    cost_ns = mean_cost_ns(graph, states, base_packets);
    ++shift.steps;
    shift.share = (before_ns - target_ns) / (before_ns - cost_ns);
  }
  return shift;
}

Allocation::Allocation(const StateGraph& graph)
    : states_(graph.size()), shares_(states_ * states_), lightest_first_(states_) {
  std::iota(lightest_first_.begin(), lightest_first_.end(), std::uint8_t{0});
  std::ranges::stable_sort(lightest_first_, {}, [&](std::uint8_t state) { return graph[state].cost_ns; });
  apply(graph, {});
}

void Allocation::apply(const StateGraph& graph, Shift shift) noexcept {
  States less = own(graph);
  for (std::size_t i = 1; i < shift.steps; ++i) step(graph, less);
  States more = less;
  if (shift.steps != 0) step(graph, more);
  std::ranges::fill(shares_, 0.0);
  for (std::size_t i = 0; i < states_; ++i) {
    shares_[i * states_ + less[i]] += 1 - shift.share;
    shares_[i * states_ + more[i]] += shift.share;
  }
}

double Allocation::move(std::uint8_t base, std::uint8_t from, std::uint8_t to, double share) noexcept {
  double& there = shares_[base * states_ + from];
  const double moved = std::clamp(share, 0.0, there);
  there -= moved;
  shares_[base * states_ + to] += moved;
  return moved;
}

std::uint8_t Allocation::state_of(std::uint8_t base, std::uint32_t hash) const noexcept {
  double left = static_cast<double>(hash) * 0x1p-32;
  std::uint8_t last = base;
  for (const std::uint8_t state : lightest_first_) {
    const double share = shares_[base * states_ + state];
    if (share <= 0) continue;
    last = state;
    if (left < share) return last;
    left -= share;
  }
  return last;  // of shares that add up to a little less than 1
}

double Allocation::mean_cost_ns(const StateGraph& graph, std::span<const double> base_packets) const noexcept {
  double cost_ns = 0, all = 0;
  for (std::size_t base = 0; base < states_; ++base) {
    for (std::size_t state = 0; state < states_; ++state)
      cost_ns += base_packets[base] * shares_[base * states_ + state] * graph[state].cost_ns;
    all += base_packets[base];
  }
  return all > 0 ? cost_ns / all : 0;
}

}  // namespace parshall
