// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "pipeline/output/text/report.hpp"

namespace parshall::live {

/// Differences between two reports, if flows have states.
struct Interval {
  double seconds = 0, reduced_s = 0;          ///< as in AdaptationSummary
  std::uint64_t windows = 0, infeasible = 0;  ///< likewise
  Accounting came;
  std::vector<StateSummary> states;
};

Interval interval_between(const ReportSummary& before, const ReportSummary& after);

}  // namespace parshall::live
