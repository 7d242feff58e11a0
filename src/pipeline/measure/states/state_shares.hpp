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

/// Maps flows to the state whose measures they get: their own state or, for a share of them, a lighter one. It goes by
/// weight and then by a hash of the flow, so that few flows change when the shares do.
///
/// Shape: 512 bytes for each state; nothing is allocated after the constructor.
class StateShares {
 public:
  static constexpr std::size_t kMostParts = 8;

  struct Part {
    std::uint8_t to;
    double share;  ///< fraction of the state's flows
  };

  /// Starts with all flows in their own state.
  explicit StateShares(std::size_t states) : rows_(states) {
    for (std::size_t state = 0; state < states; ++state) {
      const Part all{static_cast<std::uint8_t>(state), 1};
      set(all.to, {&all, 1});
    }
  }

  /// Sets the parts for flows of one weight (FlowWeight). There are at most kMostParts, with shares that sum to 1. In
  /// this order they take the hashes from 0 on.
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
    ranges[count - 1].end = kHashes;  // rounded shares may sum to a little less than 1
  }

  /// Sets the same parts for all weights.
  void set(std::uint8_t state, std::span<const Part> parts) noexcept {
    for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) set(state, weight, parts);
  }

  /// Returns the effective state of a flow.
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
