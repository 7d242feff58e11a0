// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "pipeline/measure/family.hpp"

namespace parshall {

/// A parsed statistic name.
struct StatisticName {
  Direction direction;
  Variable variable;
  const StatisticFamily* family;
  std::string what;    ///< canonical: "p99"
  std::string column;  ///< name with unit, without the direction: "gap_p99_packets"
};

/// Returns what names of the direction's statistics begin with: "reverse_", "both_" or nothing.
std::string_view prefix_of(Direction direction) noexcept;

/// Returns the direction of a statistic by its name, and takes that off the name.
Direction take_direction(std::string_view& name) noexcept;

/// Parses [reverse_|both_]<variable>_<what>[_<unit>]. The error for an unknown name suggests the nearest one.
Result<StatisticName> parse_statistic_name(std::string_view text, std::span<const StatisticFamily* const> families);

/// Returns all names, with and without unit. A pattern, such as a percentile, is represented by an example.
std::vector<std::string> statistic_names(std::span<const StatisticFamily* const> families);

}  // namespace parshall
