// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/measure/tasks/event.hpp"

namespace parshall {

/// Returns the standard deviation of an estimate from a sample of connections. `variance` assumes that each flow is
/// drawn independently. Both directions of a connection are drawn together, which at most doubles it.
inline double sampled_sd(double variance) noexcept { return std::sqrt(2 * variance); }

inline constexpr double kReach = 1.96;  ///< 95 % of estimates are within this many standard deviations

/// Returns a lower bound of the truth, from what was seen and the estimate. `one_in` is the most connections that a
/// flow stands for.
inline std::uint64_t least_of(std::uint64_t estimate, double variance, std::uint32_t one_in) noexcept {
  const auto value = static_cast<double>(estimate);
  return static_cast<std::uint64_t>(std::max(value / one_in, value - kReach * sampled_sd(variance)));
}

/// Adds the 95 % interval of an estimate by the normal law, at most `most`, which is the window's total. If the sample
/// has no flow of it, that total is the only upper bound.
inline void put_interval(std::vector<EventValue>& error, const std::string& name, std::uint64_t estimate,
                         double variance, std::uint32_t one_in, std::uint64_t most) {
  const std::uint64_t least = least_of(estimate, variance, one_in);
  const auto reaches =
      static_cast<std::uint64_t>(std::ceil(static_cast<double>(estimate) + kReach * sampled_sd(variance)));
  error.push_back({name + "_at_least", least});
  error.push_back(
      {name + "_at_most", variance == 0 ? std::max(least, most) : std::max(least, std::min(most, reaches))});
}

/// Estimates the fraction of keys above the threshold that were found. The sample, of one in `one_in` connections,
/// showed `known` of them for sure, and `near` more by their estimates alone. It contains a key of a single connection
/// with that chance; a key of several is more likely.
inline Recall share_of_keys(std::uint32_t one_in, std::size_t known, std::size_t near) noexcept {
  if (one_in == 1) return {};
  const double chance = 1.0 / one_in, keys = static_cast<double>(std::max<std::size_t>(known, 1)),
               unsure = static_cast<double>(near);
  const double sd = std::sqrt(chance * (1 - chance) / (keys * one_in));
  return {chance * keys / (keys + unsure / 2), std::max(0.0, (chance - 2 * sd) * keys / (keys + unsure))};
}

}  // namespace parshall
