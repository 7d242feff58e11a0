// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>

namespace parshall {

/// Returns the rank, from 1, of a quantile among `count` sorted samples: the nearest rank, ceil(probability * count).
/// The product is reduced a little first, as 0.999 * 1000 must give 999 whichever way 0.999 was rounded.
inline std::uint64_t nearest_rank(double probability, std::uint64_t count) noexcept {
  constexpr double kSlightlyLess = 1 - 4e-16;
  const double rank = std::ceil(probability * static_cast<double>(count) * kSlightlyLess);
  return rank < 1 ? 1 : static_cast<std::uint64_t>(rank);
}

}  // namespace parshall
