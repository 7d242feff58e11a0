// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tester/search/search_result.hpp"

namespace parshall::tester {

/// Of a value over several searches.
struct Spread {
  double median = 0, mean = 0;
  /// Within which of the mean that of all such searches lies with 95 % confidence, by Student's t; nothing of one
  /// search.
  std::optional<double> half_width;
  std::optional<double> variation;  ///< standard deviation over mean
};
/// Nothing of no values.
std::optional<Spread> spread_of(std::span<const double> values);

/// Of one goal over several searches. Values are those of regular results: what an irregular one has is at most a limit
/// of them, so that where there are any, those of the others may be too low or too high. Loads are on a grid, so that
/// searches find the same one again and again: half widths are no less than what lies between the bounds on average,
/// where no search has looked.
struct RepeatStatistics {
  std::string goal;
  std::size_t regular = 0, irregular = 0;
  std::optional<Spread> conditional_throughput_pps, relevant_lower_bound_pps, relevant_upper_bound_pps;
};

/// Of each goal; all searches have the same ones.
std::vector<RepeatStatistics> repeat_statistics(std::span<const SearchResult> searches);

}  // namespace parshall::tester
