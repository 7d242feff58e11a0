// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "pipeline/measure/windows/flow_measure.hpp"
#include "pipeline/measure/windows/window.hpp"

namespace parshall {

/// Windows of one length, and what is kept for flows in them.
struct WindowPlan {
  static constexpr std::size_t kMostMeasures = 64;

  WindowLength length;
  std::shared_ptr<const MeasureSet> measures;
  std::vector<std::uint64_t> by_state = {
      ~std::uint64_t{0}};  ///< bit i: flows of that state have the i-th measure; a single entry is for all states
  /// Flows that tasks read one by one, by the flows' state: bit i is set if a task reads those with state i's measures.
  /// The others are only counted together.
  std::vector<std::uint64_t> read = {~std::uint64_t{0}};
  std::uint64_t bin_ns =
      0;  ///< for windows of time: length of the parts that the link's traffic is counted by; 0: not counted

  std::uint64_t measures_of(std::uint8_t state) const noexcept {
    return by_state.size() == 1 ? by_state[0] : by_state[state];
  }
  bool reads(std::uint8_t state, std::uint8_t effective_state) const noexcept {
    return (read[state] >> effective_state & 1) != 0;
  }
  bool reads_all() const noexcept {
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - by_state.size());
    return std::ranges::all_of(read, [all](std::uint64_t states) { return (states & all) == all; });
  }
  std::size_t bins() const noexcept { return bin_ns == 0 ? 0 : (length.amount + bin_ns - 1) / bin_ns; }

  explicit WindowPlan(WindowLength window, std::shared_ptr<const MeasureSet> kept = std::make_shared<MeasureSet>())
      : length(window), measures(std::move(kept)) {}
};

}  // namespace parshall
