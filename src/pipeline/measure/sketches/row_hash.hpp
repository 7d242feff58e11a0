// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/random.hpp"

namespace parshall {

/// A row's own hash of a 64-bit hash. Two different inputs collide in a row of 2^bits with probability 2^-bits,
/// independently of other rows.
///
/// Cost:   one multiplication.
/// Source: pair-multiply-shift; Thorup, "High speed hashing for integers and strings", arXiv:1504.06804, on vectors.
class RowHash {
 public:
  RowHash() = default;
  explicit RowHash(SplitMix64& random) noexcept : low_(random()), high_(random()), add_(random()) {}

  /// Returns a hash whose top bits are the place in the row.
  std::uint64_t operator()(std::uint64_t hash) const noexcept {
    return (low_ + (hash >> 32)) * (high_ + (hash & 0xFFFF'FFFF)) + add_;
  }

  bool operator==(const RowHash&) const = default;

 private:
  std::uint64_t low_ = 0, high_ = 0, add_ = 0;
};

}  // namespace parshall
