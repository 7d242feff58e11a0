// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tester/search/repeat_statistics.hpp"
#include "tester/search_report/search_report.hpp"

namespace parshall::tester {

std::optional<double> load_of(const std::optional<RelevantBound>& bound);

/// Formats "1.2346 Mpps", or "none".
std::string pps_text(const std::optional<double>& pps);

/// Formats a relevant bound: "1.2346 Mpps"; without one, "1.2346 Mpps so far", or "none".
std::string bound_text(const std::optional<double>& bound_pps, const std::optional<double>& so_far_pps);

/// Formats the test's seed, and how many trials of a random device have seeds derived from it.
std::string seed_text(const SearchReport& report);

/// Returns the line rate, given the bytes that a frame takes on the line.
double line_bps(double pps, double line_bytes) noexcept;

/// Formats "; 3 were run again, ...", or an empty text if none was.
std::string repeated_text(const SearchResult& search);

/// Formats "64 bytes" or "imix".
std::string size_text(const std::string& size);

/// Returns the distance between the bounds, relative to the upper one.
std::optional<double> width_of(const GoalResult& result) noexcept;

/// One goal at one size over all searches: a row of the table over sizes.
struct GoalRow {
  const SizeSearches* size = nullptr;
  std::string goal;
  /// Result of a single search; for several, medians of the regular results, or of all if none is regular.
  std::optional<double> throughput_pps, lower_pps, upper_pps;
  std::optional<double> lower_so_far_pps, upper_so_far_pps;
  std::string judgement;
  bool is_regular = false;  ///< true: from regular results
  bool is_generators_limit = false;
};
/// Returns the rows by size, then by goal, in the order given; only sizes with a search.
std::vector<GoalRow> goal_rows(const SearchReport& report);

}  // namespace parshall::tester
