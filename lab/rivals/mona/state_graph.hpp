// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall::lab {

/// Monitoring states with the cost of a packet in each, and the lighter state that each is reduced to under overload.
///
/// Shape:  at most 64 states; a table of a byte for each state and step, 4 KB at most.
/// Source: the graph of Tangari et al., MONA, IEEE/ACM ToN 2020, figure 4; any forest, not only a chain.
class StateGraph {
 public:
  static constexpr std::size_t kMostStates = 64;

  struct State {
    std::string name;
    std::uint8_t lighter;  ///< its own number if there is none
    double cost_ns;        ///< cost of its tasks per packet
  };

  /// Makes the graph. Error: a state is not reduced to a cheaper one, or refers to a state that does not exist; so
  /// there are no cycles.
  static Result<StateGraph> make(std::vector<State> states);

  std::size_t size() const noexcept { return states_.size(); }
  const State& operator[](std::size_t state) const noexcept { return states_[state]; }
  std::uint8_t lighter(std::uint8_t state) const noexcept { return states_[state].lighter; }
  std::size_t depth() const noexcept { return depth_; }  ///< steps after which every state is at its lightest

  /// Returns the state reached after this many steps, by starting state.
  std::span<const std::uint8_t> after(std::size_t steps) const noexcept {
    return {reached_.data() + (steps < depth_ ? steps : depth_) * size(), size()};
  }
  /// Returns all states in an order where each follows the one it is reduced to.
  std::span<const std::uint8_t> root_first() const noexcept { return root_first_; }
  std::span<const double> costs_ns() const noexcept { return costs_ns_; }

  /// Sets the costs; returns false, without effect, if a state would not be reduced to a cheaper one, or a cost is
  /// negative or not finite.
  bool set_costs(std::span<const double> costs_ns) noexcept;

  /// Returns the mean cost of packets given by state; entries missing from a short span count as 0. Returns 0 without
  /// packets.
  double mean_cost_ns(std::span<const double> packets) const noexcept;

 private:
  explicit StateGraph(std::vector<State> states);

  std::vector<State> states_;
  std::vector<double> costs_ns_;  ///< costs of the states, contiguous
  std::vector<std::uint8_t> root_first_;
  std::vector<std::uint8_t> reached_;  ///< by steps and state
  std::size_t depth_ = 0;
};

}  // namespace parshall::lab
