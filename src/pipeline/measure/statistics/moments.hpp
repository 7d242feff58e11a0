// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/measure/family.hpp"

namespace parshall {

/// Computes last, min, max, mean, sd, skewness and kurtosis, with one state for all that holds only the requested
/// parts.
///
/// Shape:  8 bytes for the number of samples, 8 for `last`, 16 for `min` and `max`, and 8 for each moment up to the
///         highest requested: 16 bytes for the mean alone, 40 for the kurtosis, 64 for everything.
/// Cost:   mean alone: one addition. sd: one division a sample; skewness and kurtosis: some ten multiplications more.
/// Error:  the mean alone is exact as long as the samples sum to less than 2^64 (gaps sum to packets on the link,
///         inter-arrival times to ns of the run, sizes to bytes). Higher moments: rounding only, see the tests.
/// Merge:  all but `last`, whose order across workers is not known.
/// Source: Welford, Technometrics 4(3), 1962; Pebay, Sandia report SAND2008-6212, for 3rd and 4th and to merge.
///
/// sd is the sample standard deviation (n - 1), absent below two samples. Skewness is g1 = m3 / m2^1.5 and kurtosis the
/// excess g2 = m4 / m2^2 - 3 (0 for a normal distribution), of the population; absent if all samples are equal.
extern const StatisticFamily kMomentsFamily;

}  // namespace parshall
