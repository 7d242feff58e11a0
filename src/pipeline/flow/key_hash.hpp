// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/random.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Hash for standard containers, off the hot path. It is not keyed.
struct KeyHash {
  std::size_t operator()(const FlowKey& key) const noexcept {
    std::uint64_t hash = 0;
    for (std::size_t at = 0; at + 8 <= key.significant_bytes(); at += 8) {
      std::uint64_t word;
      std::memcpy(&word, reinterpret_cast<const char*>(&key) + at, sizeof word);
      hash = SplitMix64::mix(hash ^ word);
    }
    return hash;
  }
};

}  // namespace parshall
