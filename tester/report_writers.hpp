// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "tester/test_report.hpp"

namespace parshall::tester {

/// Formats a report for reading: totals, latency, and the flows with the most losses.
std::string report_text(const TestReport& report);

/// Formats a row for each flow, key first, with units in the names; missing values are empty.
std::string report_csv(const TestReport& report);

/// Formats one object with `summary` and `flows`; missing values are null.
std::string report_json(const TestReport& report);

}  // namespace parshall::tester
