// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/measure/tasks/event.hpp"

namespace parshall {

/// Standard deviation of an estimate by a sample of connections. `variance`: of its flows, were each drawn by itself;
/// both directions of a connection are drawn together, which at most doubles it.
inline double sampled_sd(double variance) noexcept { return std::sqrt(2 * variance); }

inline constexpr double kReach = 1.96;  ///< standard deviations within which 95 of 100 estimates are

/// What is known of it: what was seen, and what the estimate leaves. `one_in`: connections that each flow stands for at
/// most.
inline std::uint64_t least_of(std::uint64_t estimate, double variance, std::uint32_t one_in) noexcept {
  const auto value = static_cast<double>(estimate);
  return static_cast<std::uint64_t>(std::max(value / one_in, value - kReach * sampled_sd(variance)));
}

/// Where an estimate lies in 95 of 100 cases, by the normal law, and no more than `most`, the window's total; which is
/// all that is known where no flow of the sample is in it.
inline void put_interval(std::vector<EventValue>& error, const std::string& name, std::uint64_t estimate,
                         double variance, std::uint32_t one_in, std::uint64_t most) {
  const std::uint64_t least = least_of(estimate, variance, one_in);
  const auto reaches =
      static_cast<std::uint64_t>(std::ceil(static_cast<double>(estimate) + kReach * sampled_sd(variance)));
  error.push_back({name + "_at_least", least});
  error.push_back(
      {name + "_at_most", variance == 0 ? std::max(least, most) : std::max(least, std::min(most, reaches))});
}

/// Of keys with a count of the threshold or more, in a sample of one in so many connections that showed `known` of them
/// for sure, and `near` whose estimates alone reach it. A key of a single connection is there with that chance; one of
/// several is more likely.
inline FoundShare share_of_keys(std::uint32_t one_in, std::size_t known, std::size_t near) noexcept {
  if (one_in == 1) return {};
  const double chance = 1.0 / one_in, keys = static_cast<double>(std::max<std::size_t>(known, 1)),
               unsure = static_cast<double>(near);
  const double sd = std::sqrt(chance * (1 - chance) / (keys * one_in));
  return {chance * keys / (keys + unsure / 2), std::max(0.0, (chance - 2 * sd) * keys / (keys + unsure))};
}

}  // namespace parshall
