// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/random.hpp"

namespace parshall::tester {

/// What of a test goes by chance. Whatever is drawn follows from the test's one seed.
enum class Chance : std::uint64_t { traffic = 1, device = 2 };

inline constexpr unsigned kSeedBits = 48;  ///< any reader of JSON keeps such numbers as they are

constexpr std::uint64_t seed_of(std::uint64_t test_seed, Chance chance) noexcept {
  return SplitMix64::mix(SplitMix64::mix(test_seed) ^ static_cast<std::uint64_t>(chance)) >> (64 - kSeedBits);
}

/// Of what a device does in the n-th trial, from 0 on: the first has the device's own, so that a trial can be made
/// again alone.
constexpr std::uint64_t trial_seed(std::uint64_t device_seed, std::uint64_t trial) noexcept {
  if (trial == 0) return device_seed;
  return SplitMix64::mix(SplitMix64::mix(~device_seed) ^ trial) >> (64 - kSeedBits);
}

}  // namespace parshall::tester
