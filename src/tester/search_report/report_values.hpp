// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tester/search/repeat_statistics.hpp"
#include "tester/search_report/search_report.hpp"

namespace parshall::tester {

std::optional<double> load_of(const std::optional<RelevantBound>& bound);

/// "1.2346 Mpps", or "none".
std::string pps_text(const std::optional<double>& pps);

/// Of a relevant bound: "1.2346 Mpps"; where there is none, "1.2346 Mpps so far", or "none".
std::string bound_text(const std::optional<double>& bound_pps, const std::optional<double>& so_far_pps);

/// The test's seed; and how many trials of a device that draws have one of their own that follows from it.
std::string seed_text(const SearchReport& report);

/// Of a line that takes so many bytes for a frame.
double line_bps(double pps, double line_bytes) noexcept;

/// "; 3 were run again, ..."; nothing where none was.
std::string repeated_text(const SearchResult& search);

/// "64 bytes", "imix".
std::string size_text(const std::string& size);

/// Between the bounds, relative to the upper one.
std::optional<double> width_of(const GoalResult& result) noexcept;

/// One goal at one size over all searches: what a table over sizes has in a row.
struct GoalRow {
  const SizeSearches* size = nullptr;
  std::string goal;
  /// Of a single search what it has, of several the medians of the regular ones, or of all where none is regular.
  std::optional<double> throughput_pps, lower_pps, upper_pps;
  std::optional<double> lower_so_far_pps, upper_so_far_pps;
  std::string judgement;
  bool is_regular = false;  ///< these are of regular results
  bool is_generators_limit = false;
};
/// By size, then by goal, as they were given; of sizes with a search.
std::vector<GoalRow> goal_rows(const SearchReport& report);

}  // namespace parshall::tester
