// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <random>

namespace parshall {

/// Returns a seed that nobody can foresee.
inline std::uint64_t random_seed() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace parshall
