// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/mona/state_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace parshall::lab {

Result<StateGraph> StateGraph::make(std::vector<State> states) {
  if (states.empty() || states.size() > kMostStates)
    return Error{fmt::format("{} monitoring states; 1 to 64 are possible", states.size())};
  for (std::size_t i = 0; i < states.size(); ++i) {
    const State& state = states[i];
    if (!std::isfinite(state.cost_ns) || state.cost_ns < 0)
      return Error{fmt::format("state {} costs {} ns a packet; a cost must be 0 or more", state.name, state.cost_ns)};
    if (state.lighter >= states.size())
      return Error{fmt::format("the lighter state of {} is number {} of {}", state.name, state.lighter, states.size())};
    if (const State& lighter = states[state.lighter]; state.lighter != i && lighter.cost_ns >= state.cost_ns)
      return Error{
          fmt::format("state {} costs {:.1f} ns a packet, and its lighter state {} costs {:.1f}: name a state "
                      "with fewer tasks, or profile again",
                      state.name, state.cost_ns, lighter.name, lighter.cost_ns)};
  }
  return StateGraph(std::move(states));
}

StateGraph::StateGraph(std::vector<State> states) : states_(std::move(states)), reached_(states_.size()) {
  for (const State& state : states_) costs_ns_.push_back(state.cost_ns);
  std::iota(reached_.begin(), reached_.end(), std::uint8_t{0});
  root_first_ = reached_;
  std::ranges::stable_sort(root_first_, {}, [&](std::uint8_t state) { return states_[state].cost_ns; });
  for (bool moved = true; moved;) {
    moved = false;
    std::vector<std::uint8_t> next(reached_.end() - static_cast<std::ptrdiff_t>(size()), reached_.end());
    for (std::uint8_t& state : next) moved |= std::exchange(state, lighter(state)) != state;
    if (!moved) break;
    reached_.insert(reached_.end(), next.begin(), next.end());
    ++depth_;
  }
}

bool StateGraph::set_costs(std::span<const double> costs_ns) noexcept {
  if (costs_ns.size() != size()) return false;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!std::isfinite(costs_ns[i]) || costs_ns[i] < 0) return false;
    if (states_[i].lighter != i && costs_ns[states_[i].lighter] >= costs_ns[i]) return false;
  }
  for (std::size_t i = 0; i < size(); ++i) states_[i].cost_ns = costs_ns_[i] = costs_ns[i];
  return true;
}

double StateGraph::mean_cost_ns(std::span<const double> packets) const noexcept {
  double cost_ns = 0, all = 0;
  for (std::size_t i = 0; i < std::min(size(), packets.size()); ++i) {
    cost_ns += packets[i] * costs_ns_[i];
    all += packets[i];
  }
  return all > 0 ? cost_ns / all : 0;
}

}  // namespace parshall::lab
