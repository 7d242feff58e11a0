// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/session.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// All parts of a session, except its input, made from a plan.
struct Wiring {
  SessionOptions session;
  Schema schema;
  StatisticOptions statistics;
  std::vector<TaskSpec> tasks;
  TaskOptions task_options;
  std::uint64_t wall_duration_ns = 0;  ///< 0: no limit
  std::vector<std::string> notes;      ///< remarks for the user that are no errors
};

/// Checks a plan; all checks happen here. Errors are the user's, and call settings by their command-line names.
Result<Wiring> wire(const Plan& plan);

/// Makes the run report the recall of every window, as wire() does for a recall output. Error: why there is nothing to
/// report.
std::optional<Error> watch_recall(const Plan& plan, const Wiring& wiring);

/// Returns true if its source waits for its reader.
bool input_can_wait(const SourcePlan& source);

}  // namespace parshall
