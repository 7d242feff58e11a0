// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "pipeline/measure/family.hpp"

namespace parshall {

/// One histogram for each flow, for all percentiles requested of a variable.
///
/// Shape:  of a live flow: an 8-bit counter for each bin, 312 bytes for the gap and inter-arrival time (values up to
///         2^40 - 1, larger ones count in the last bin), 248 for the size (any), at 5 %; some 15 / error in general.
///         Beside it, for flows with more than 255 samples in a bin, 32 bits for what is carried from each. In a
///         record: 32 bits for each bin.
/// Cost:   integer arithmetic and one cache line a sample (docs/accuracy-statistics.md has the time); reading visits
///         every bin.
/// Error:  |reported - exact| <= error * exact for any percentile (nearest rank), any data and any number of samples up
///         to 2^32; small values (below 16 at 5 %) are exact.
/// Full:   when a bin would exceed 2^32 - 1, all bins are halved, rounding up so that no value seen vanishes. Each time
///         this shifts a rank by at most half the number of bins, out of more than 2^31 samples. From then on a sample
///         weighs as much as two earlier ones.
/// Merge:  exact, bin by bin, with the same halving.
/// Source: Masson, Rim, Lee, "DDSketch: a fast and fully-mergeable quantile sketch", PVLDB 12(12), 2019: the error
///         guarantee (section 2) and the idea to interpolate the logarithm; the bins here are integers'.
std::unique_ptr<Statistic> make_log_histogram(Variable variable, std::vector<AskedQuantile> asked,
                                              double relative_error);

}  // namespace parshall
