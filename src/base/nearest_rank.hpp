// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>

namespace parshall {

/// Which of `count` sorted samples, counted from 1, is the quantile: the nearest rank, ceil(probability * count).
/// The product is taken a little smaller than it is, as 0.999 * 1000 must give 999 whichever way 0.999 was rounded.
inline std::uint64_t nearest_rank(double probability, std::uint64_t count) noexcept {
  constexpr double kRounding = 1 - 4e-16;
  const double rank = std::ceil(probability * static_cast<double>(count) * kRounding);
  return rank < 1 ? 1 : static_cast<std::uint64_t>(rank);
}

}  // namespace parshall
