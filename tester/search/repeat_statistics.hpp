// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tester/search/search_result.hpp"

namespace parshall::tester {

/// Statistics of a value over several searches.
struct Spread {
  double median = 0, mean = 0;
  /// Half of the 95 % confidence interval of the mean, by Student's t; unset for a single search.
  std::optional<double> half_width;
  std::optional<double> variation;  ///< standard deviation over mean
};
/// Returns the statistics; nullopt without values.
std::optional<Spread> spread_of(std::span<const double> values);

/// Statistics of one goal over several searches. They include regular results only: an irregular result is at most a
/// limit, so if there are any, the others may be biased. Loads are on a grid, so searches find the same value
/// repeatedly. Half widths are therefore at least the mean distance between the bounds, which no search resolves.
struct RepeatStatistics {
  std::string goal;
  std::size_t regular = 0, irregular = 0;
  std::optional<Spread> conditional_throughput_pps, relevant_lower_bound_pps, relevant_upper_bound_pps;
};

/// Returns the statistics of each goal; all searches have the same ones.
std::vector<RepeatStatistics> repeat_statistics(std::span<const SearchResult> searches);

}  // namespace parshall::tester
