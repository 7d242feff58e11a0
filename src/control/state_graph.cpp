// SPDX-License-Identifier: Apache-2.0
#include "control/state_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace parshall {

Result<StateGraph> StateGraph::make(std::vector<State> states) {
  if (states.empty() || states.size() > 64) return Error{fmt::format("{} monitoring states: 1 to 64", states.size())};
  for (std::size_t i = 0; i < states.size(); ++i) {
    const State& state = states[i];
    if (!std::isfinite(state.cost_ns) || state.cost_ns < 0)
      return Error{fmt::format("state {} costs {} ns a packet: a cost is 0 or more", state.name, state.cost_ns)};
    if (state.lighter >= states.size())
      return Error{
          fmt::format("state {} gives way to state number {} of {}", state.name, state.lighter, states.size())};
    if (const State& lighter = states[state.lighter]; state.lighter != i && lighter.cost_ns >= state.cost_ns)
      return Error{
          fmt::format("state {} costs {:.1f} ns a packet and gives way to {}, which costs {:.1f}: name a state "
                      "with fewer tasks, or profile again",
                      state.name, state.cost_ns, lighter.name, lighter.cost_ns)};
  }
  return StateGraph(std::move(states));
}

StateGraph::StateGraph(std::vector<State> states) : states_(std::move(states)) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    std::size_t steps = 0;
    for (std::size_t at = i; states_[at].lighter != at; at = states_[at].lighter) ++steps;
    depth_ = std::max(depth_, steps);
  }
}

double StateGraph::mean_cost_ns(std::span<const double> packets) const noexcept {
  double cost_ns = 0, all = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    cost_ns += packets[i] * states_[i].cost_ns;
    all += packets[i];
  }
  return all > 0 ? cost_ns / all : 0;
}

}  // namespace parshall
