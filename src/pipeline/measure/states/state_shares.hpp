// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/flow_weight.hpp"

namespace parshall {

/// Which state's measures flows of each state have in fact: the state's own, or, for shares of its flows, lighter ones.
/// By a hash of the flow, so that few flows change when the shares do; but for heavy flows, which may all have the
/// lightest.
///
/// Shape: 8 bytes for each pair of states; nothing is allocated after the constructor.
class StateShares {
 public:
  struct Part {
    std::uint8_t to;
    double share;  ///< of the state's flows
  };

  /// All have their own.
  explicit StateShares(std::size_t states) : states_(states), ranges_(states * states), lightest_(states) {
    for (std::size_t state = 0; state < states; ++state) {
      const Part all{static_cast<std::uint8_t>(state), 1};
      set(all.to, {&all, 1});
    }
  }

  /// Flows of this weight (FlowWeight) or more have the lightest state that their own comes to: `lightest`, by state.
  /// FlowWeight::kClasses: none do.
  void set_heavy(std::uint8_t from, std::span<const std::uint8_t> lightest) noexcept {
    heavy_from_ = from;
    std::ranges::copy(lightest, lightest_.begin());
  }

  /// No more parts than there are states; together they are 1. In this order they have the hashes from 0 on.
  void set(std::uint8_t state, std::span<const Part> parts) noexcept {
    Range* const ranges = &ranges_[state * states_];
    double end = 0;
    std::size_t count = 0;
    for (const Part& part : parts) {
      end += part.share;
      const auto whole = static_cast<std::uint32_t>(std::clamp(std::lround(end * kHashes), 0L, kHashes));
      if (whole > (count == 0 ? 0 : ranges[count - 1].end)) ranges[count++] = {whole, part.to};
    }
    if (count == 0) ranges[count++] = {0, state};
    ranges[count - 1].end = kHashes;  // shares add up to a little less than 1
  }

  /// Of a flow of that state.
  std::uint8_t effective(std::uint8_t state, std::uint16_t hash, std::uint8_t weight) const noexcept {
    if (weight >= heavy_from_) return lightest_[state];
    const Range* range = &ranges_[state * states_];
    while (hash >= range->end) ++range;
    return range->to;
  }

 private:
  static constexpr long kHashes = 1 << 16;

  struct Range {
    std::uint32_t end;
    std::uint8_t to;
  };

  std::size_t states_;
  std::vector<Range> ranges_;  ///< by state, each `states` long
  std::vector<std::uint8_t> lightest_;
  std::uint8_t heavy_from_ = FlowWeight::kClasses;
};

}  // namespace parshall
