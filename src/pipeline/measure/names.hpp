// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "pipeline/measure/family.hpp"

namespace parshall {

/// A name as a user writes it, understood.
struct StatisticName {
  Variable variable;
  const StatisticFamily* family;
  std::string what;    ///< canonical: "p99"
  std::string column;  ///< with unit: "gap_p99_packets"
};

/// Reads <variable>_<what>[_<unit>]. The error of an unknown name says what comes nearest.
Result<StatisticName> parse_statistic_name(std::string_view text, std::span<const StatisticFamily* const> families);

/// Returns every name there is, with and without its unit; a pattern, such as a percentile, as an example.
std::vector<std::string> statistic_names(std::span<const StatisticFamily* const> families);

}  // namespace parshall
