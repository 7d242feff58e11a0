// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "pipeline/output/records/column.hpp"

namespace parshall {

/// Returns the information element of a statistic's column: that of statistic_elements(), else a private one. The
/// number of a private element follows from the column's name and never changes. For a pattern ("gap_<1-16>_packets")
/// it is the first one. Reverse elements of IANA's are those of RFC 5103.
///
/// Returns 0 for a percentile with too many digits: only tenths have numbers, and hundredths above 99.
IpfixElement statistic_element(std::string_view column) noexcept;

}  // namespace parshall
