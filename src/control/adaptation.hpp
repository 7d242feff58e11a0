// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "control/state_graph.hpp"

namespace parshall {

/// How far flows give way: `share` of them `steps` steps, the others one step less.
struct Shift {
  std::size_t steps = 0;
  double share = 0;         ///< 0 to 1
  bool infeasible = false;  ///< the lightest states of all take longer than there is

  friend bool operator==(const Shift&, const Shift&) = default;
};

/// The least shift with which tasks take no more than `target_ns` of a packet on average. `base_packets`: by the state
/// that flows would have, were there time for all; what they had in fact would make it swing.
///
/// Cost:   some 7 us for a chain of 64 states; nothing is allocated.
/// Source: algorithm 1 of Tangari et al., MONA, IEEE TNSM 2020, mended: no shift where there is time, an end where
///         shifting changes nothing, any graph.
Shift shift_to(const StateGraph& graph, std::span<const double> base_packets, double target_ns) noexcept;

/// Which state the flows of each base state have in fact: shares of them, by a hash of the flow, so that as few flows
/// as can be change when the shares do.
///
/// Shape: at most 64 * 64 shares of 8 bytes. Nothing is allocated after the constructor.
class Allocation {
 public:
  /// All have their base state. The graph's costs order the states' ranges of hashes.
  explicit Allocation(const StateGraph& graph);

  std::size_t size() const noexcept { return states_; }
  void apply(const StateGraph& graph, Shift shift) noexcept;

  /// `share`, of all flows of the base state, goes from one state to another; no more than are there. What went.
  double move(std::uint8_t base, std::uint8_t from, std::uint8_t to, double share) noexcept;

  double share(std::uint8_t base, std::uint8_t state) const noexcept { return shares_[base * states_ + state]; }

  /// Of a flow whose hash, which nothing else goes by, is this.
  std::uint8_t state_of(std::uint8_t base, std::uint32_t hash) const noexcept;

  /// What packets by base state cost on average, where heavy flows are everywhere alike.
  double mean_cost_ns(const StateGraph& graph, std::span<const double> base_packets) const noexcept;

 private:
  std::size_t states_;
  std::vector<double> shares_;  ///< by base state and state; each base state's add up to 1
  std::vector<std::uint8_t> lightest_first_;
};

}  // namespace parshall
