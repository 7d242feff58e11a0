// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "parshall/task_tally.hpp"
#include "pipeline/output/output_summary.hpp"

namespace parshall {

/// What a run has come to so far.
struct MetricsState {
  std::string source;
  double began_s = 0;  ///< when the counters were 0, since 1970
  Counters counters;
  bool has_flows = true;  ///< else packets alone are counted
  std::vector<OutputSummary> outputs;
  std::vector<TaskTally::Task> tasks;
};

inline constexpr const char* kMetricsPath = "/metrics";

/// Writes counters, outputs' accounts and what tasks found as MetricsText. No flow and no address is in a label.
std::string metrics_text(const MetricsState& state);

}  // namespace parshall
