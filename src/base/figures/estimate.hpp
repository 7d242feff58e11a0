// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace parshall::lab {

/// The ranks, from 0, of the two of n > 0 sorted samples between which their distribution's median lies with 95 %
/// confidence; the outermost where n is too small for that.
///
/// Source: David and Nagaraja, Order Statistics, 7.1: the number of samples below the median is binomial; normal,
///         where n is so large that the binomial's tail is below a double.
inline std::pair<std::size_t, std::size_t> median_interval(std::size_t n) noexcept {
  if (n > 1000) {
    const auto rank = static_cast<std::size_t>(static_cast<double>(n) / 2 - 0.98 * std::sqrt(static_cast<double>(n)));
    return {rank, n - 1 - rank};
  }
  double chance = std::ldexp(1.0, -static_cast<int>(n)), outside = 0;  // of exactly `rank` samples below
  std::size_t rank = 0;
  for (; 2 * (outside + chance) <= 0.05; ++rank) {
    outside += chance;
    chance *= static_cast<double>(n - rank) / static_cast<double>(rank + 1);
  }
  rank -= rank != 0;
  return {rank, n - 1 - rank};
}

/// The median of samples, and its interval by median_interval().
struct Estimate {
  double median = 0, low = 0, high = 0;
};

/// All zero without samples.
inline Estimate estimate(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  const auto [low, high] = median_interval(samples.size());
  return {samples[samples.size() / 2], samples[low], samples[high]};
}

}  // namespace parshall::lab
