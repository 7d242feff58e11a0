// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall {

/// Monitoring states by what a packet costs in them, and the lighter state that each gives way to where time is short.
///
/// Shape:  at most 64 states; a table of a byte for each state and step, 4 KB at most.
/// Source: the graph of Tangari et al., MONA, IEEE TNSM 2020, figure 4; any forest, not only a chain.
class StateGraph {
 public:
  static constexpr std::size_t kMostStates = 64;

  struct State {
    std::string name;
    std::uint8_t lighter;  ///< its own number where there is none
    double cost_ns;        ///< of its tasks, for each packet
  };

  /// Fails on a state that does not give way to a cheaper one, and on numbers of no state: so no state is reached
  /// again.
  static Result<StateGraph> make(std::vector<State> states);

  std::size_t size() const noexcept { return states_.size(); }
  const State& operator[](std::size_t state) const noexcept { return states_[state]; }
  std::uint8_t lighter(std::uint8_t state) const noexcept { return states_[state].lighter; }
  std::size_t depth() const noexcept { return depth_; }  ///< steps after which every state is at its lightest

  /// The states that all come to in so many steps, by the state they start from.
  std::span<const std::uint8_t> after(std::size_t steps) const noexcept {
    return {reached_.data() + (steps < depth_ ? steps : depth_) * size(), size()};
  }
  /// Each state after the one that it gives way to.
  std::span<const std::uint8_t> root_first() const noexcept { return root_first_; }
  std::span<const double> costs_ns() const noexcept { return costs_ns_; }

  /// Takes them unless a state would no longer give way to a cheaper one, or one is below 0 or not finite. Whether it
  /// did.
  bool set_costs(std::span<const double> costs_ns) noexcept;

  /// Of packets by state, those of a span that is too short being none; 0 where there are none.
  double mean_cost_ns(std::span<const double> packets) const noexcept;

 private:
  explicit StateGraph(std::vector<State> states);

  std::vector<State> states_;
  std::vector<double> costs_ns_;  ///< those of the states, side by side
  std::vector<std::uint8_t> root_first_;
  std::vector<std::uint8_t> reached_;  ///< by steps and state
  std::size_t depth_ = 0;
};

}  // namespace parshall
