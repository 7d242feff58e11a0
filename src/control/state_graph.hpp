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
/// Source: the graph of Tangari et al., MONA, IEEE TNSM 2020, figure 4; any forest, not only a chain.
class StateGraph {
 public:
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

  /// Of packets by state; 0 where there are none.
  double mean_cost_ns(std::span<const double> packets) const noexcept;

 private:
  explicit StateGraph(std::vector<State> states);

  std::vector<State> states_;
  std::size_t depth_ = 0;
};

}  // namespace parshall
