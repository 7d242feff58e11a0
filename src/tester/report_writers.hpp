// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>

#include "tester/test_report.hpp"

namespace parshall::tester {

/// For reading: totals, latency, the flows that lost most.
void write_text(std::FILE* to, const TestReport& report);

/// A row for each flow, key first, units in the names; what does not exist is empty.
void write_csv(std::FILE* to, const TestReport& report);

/// One object: `summary` and `flows`; what does not exist is null.
void write_json(std::FILE* to, const TestReport& report);

}  // namespace parshall::tester
