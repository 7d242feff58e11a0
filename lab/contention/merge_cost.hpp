// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "base/result.hpp"
#include "lab/contention/core_shares.hpp"

namespace parshall::lab {

/// Merge cost per packet of an epoch of all cores, with the 95 % interval of the median.
struct MergeCost {
  double median_ns = 0, low_ns = 0, high_ns = 0;
};

/// Measures the cost of merging the tables of several cores into an empty one at the end of an epoch, in which each
/// core counted its part of `epoch` packets. The result is checked against the truth. Returns zeros for one core.
Result<MergeCost> measure_merge(std::span<const CoreUse> shares, std::span<const int> other_cores, std::size_t flows,
                                std::size_t epoch, int rounds, std::uint64_t seed);

}  // namespace parshall::lab
