// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/nearest_rank.hpp"
#include "pipeline/measure/family.hpp"

namespace parshall {

inline constexpr double kMinRelativeError = 1e-4;  ///< for histogram percentiles: some 530 kB a flow
inline constexpr double kMaxRelativeError = 0.5;   ///< exclusive

/// p<percentile>, by P-square (a state for each percentile) or by one histogram per variable.
extern const StatisticFamily kQuantileFamily;

}  // namespace parshall
