// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "parshall/task_tally.hpp"
#include "pipeline/output/alarms/alarm.hpp"
#include "pipeline/output/output_summary.hpp"

namespace parshall {

/// State of a run that the metrics page shows.
struct MetricsState {
  std::string source;
  double began_s = 0;  ///< when the counters were 0, in seconds since 1970
  Counters counters;
  bool has_flows = true;  ///< false: only packets are counted
  std::vector<OutputSummary> outputs;
  std::vector<TaskTally::Task> tasks;
  std::vector<AlarmCount> alarms;
};

inline constexpr const char* kMetricsPath = "/metrics";

/// Formats counters, output accounts and task results in Prometheus' text format. No label holds a flow or an address.
std::string metrics_text(const MetricsState& state);

}  // namespace parshall
