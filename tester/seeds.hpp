// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/random.hpp"

namespace parshall::tester {

/// Random parts of a test. All random numbers are derived from the test's seed.
enum class Chance : std::uint64_t { traffic = 1, device = 2 };

inline constexpr unsigned kSeedBits = 48;  ///< short enough for every JSON reader to keep exactly

constexpr std::uint64_t seed_of(std::uint64_t test_seed, Chance chance) noexcept {
  return SplitMix64::mix(SplitMix64::mix(test_seed) ^ static_cast<std::uint64_t>(chance)) >> (64 - kSeedBits);
}

/// Returns the seed of a device in the n-th trial, from 0 on. The first trial has the device's own seed, so that a
/// trial can be repeated alone.
constexpr std::uint64_t trial_seed(std::uint64_t device_seed, std::uint64_t trial) noexcept {
  if (trial == 0) return device_seed;
  return SplitMix64::mix(SplitMix64::mix(~device_seed) ^ trial) >> (64 - kSeedBits);
}

}  // namespace parshall::tester
