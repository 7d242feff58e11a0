// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "pipeline/output/column.hpp"

namespace parshall {

/// Returns the information element of a statistic's column: that of statistic_elements(), else one of our own, whose
/// number follows from the column's name and never changes. Of a pattern ("gap_<1-16>_packets") the first one.
///
/// None (0) for a percentile with more digits than numbers are for: tenths, and hundredths above 99.
IpfixElement statistic_element(std::string_view column) noexcept;

}  // namespace parshall
