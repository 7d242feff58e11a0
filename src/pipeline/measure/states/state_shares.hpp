// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/flow_weight.hpp"

namespace parshall {

/// Which state's measures flows of each state have in fact: the state's own, or, for shares of its flows, lighter ones.
/// By weight, and among flows of a weight by a hash of the flow, so that few flows change when the shares do.
///
/// Shape: 512 bytes for each state; nothing is allocated after the constructor.
class StateShares {
 public:
  static constexpr std::size_t kMostParts = 8;

  struct Part {
    std::uint8_t to;
    double share;  ///< of the state's flows
  };

  /// All have their own.
  explicit StateShares(std::size_t states) : rows_(states) {
    for (std::size_t state = 0; state < states; ++state) {
      const Part all{static_cast<std::uint8_t>(state), 1};
      set(all.to, {&all, 1});
    }
  }

  /// Of flows of one weight (FlowWeight). At most kMostParts, together 1; in this order they have the hashes from 0 on.
  void set(std::uint8_t state, std::size_t weight, std::span<const Part> parts) noexcept {
    Ranges& ranges = rows_[state][weight];
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

  /// Of all weights.
  void set(std::uint8_t state, std::span<const Part> parts) noexcept {
    for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) set(state, weight, parts);
  }

  /// Of a flow of that state.
  std::uint8_t effective(std::uint8_t state, std::uint16_t hash, std::uint8_t weight) const noexcept {
    const Range* range = rows_[state][weight].data();
    while (hash >= range->end) ++range;
    return range->to;
  }

 private:
  static constexpr long kHashes = 1 << 16;

  struct Range {
    std::uint32_t end;
    std::uint8_t to;
  };
  using Ranges = std::array<Range, kMostParts>;

  std::vector<std::array<Ranges, FlowWeight::kClasses>> rows_;
};

}  // namespace parshall
