// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace parshall::lab {

/// Returns two ranks, from 0, among n > 0 sorted samples. The median of the distribution lies between them with 95 %
/// confidence. They are the outermost ranks where n is too small for that.
///
/// Source: David and Nagaraja, Order Statistics, 7.1. The number of samples below the median is binomial; the normal
///         approximation replaces it where the binomial's tail is too small for a double.
inline std::pair<std::size_t, std::size_t> median_interval(std::size_t n) noexcept {
  if (n > 1000) {
    const auto rank = static_cast<std::size_t>(static_cast<double>(n) / 2 - 0.98 * std::sqrt(static_cast<double>(n)));
    return {rank, n - 1 - rank};
  }
  double chance = std::ldexp(1.0, -static_cast<int>(n)), outside = 0;  // chance that exactly `rank` samples are below
  std::size_t rank = 0;
  for (; 2 * (outside + chance) <= 0.05; ++rank) {
    outside += chance;
    chance *= static_cast<double>(n - rank) / static_cast<double>(rank + 1);
  }
  rank -= rank != 0;
  return {rank, n - 1 - rank};
}

/// Median of samples, with its interval by median_interval().
struct Estimate {
  double median = 0, low = 0, high = 0;
};

/// Estimates the median. All fields are 0 without samples.
inline Estimate estimate(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  const auto [low, high] = median_interval(samples.size());
  return {samples[samples.size() / 2], samples[low], samples[high]};
}

}  // namespace parshall::lab
