// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/flow/identity.hpp"

namespace parshall {

/// Set of a window's flows that may have packets missing from their record because it was evicted.
///
/// Shape: a bit for each of 2^23 values of a keyed hash, allocated with the first such flow.
/// Error: false positives: with n flows in the set, another is taken for one of them with a chance of n / 2^23.
class PartedFlows {
 public:
  explicit PartedFlows(std::uint64_t seed) : hash_(KeyFields::five_tuple, Identity::exact, seed) {}

  void add(const FlowKey& flow) {
    if (bits_.empty()) bits_.resize(kWords);
    any_ = true;
    const std::uint64_t at = place_of(flow);
    bits_[at / 64] |= std::uint64_t{1} << at % 64;
  }
  bool may_have(const FlowKey& flow) const noexcept {
    if (!any_) return false;
    const std::uint64_t at = place_of(flow);
    return (bits_[at / 64] >> at % 64 & 1) != 0;
  }
  void clear() noexcept {
    if (any_) std::fill(bits_.begin(), bits_.end(), 0);
    any_ = false;
  }

  static constexpr std::size_t memory_bytes() noexcept { return kWords * sizeof(std::uint64_t); }

 private:
  static constexpr unsigned kBits = 23;
  static constexpr std::size_t kWords = (std::size_t{1} << kBits) / 64;

  std::uint64_t place_of(const FlowKey& flow) const noexcept { return hash_.hash(flow) >> (64 - kBits); }

  FlowIdentity hash_;
  std::vector<std::uint64_t> bits_;
  bool any_ = false;
};

}  // namespace parshall
