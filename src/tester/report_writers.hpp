// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "tester/test_report.hpp"

namespace parshall::tester {

/// For reading: totals, latency, the flows that lost most.
std::string report_text(const TestReport& report);

/// A row for each flow, key first, units in the names; what does not exist is empty.
std::string report_csv(const TestReport& report);

/// One object: `summary` and `flows`; what does not exist is null.
std::string report_json(const TestReport& report);

}  // namespace parshall::tester
