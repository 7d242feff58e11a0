// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/session.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// What a plan comes to: all that a session is made of, but its input.
struct Wiring {
  SessionOptions session;
  Schema schema;
  StatisticOptions statistics;
  std::vector<TaskSpec> tasks;
  TaskOptions task_options;
  std::uint64_t wall_duration_ns = 0;  ///< 0: as long as packets come
  std::vector<std::string> notes;      ///< what the user would want to know, but is no error
};

/// Checks a plan, here and nowhere else. Errors are of who made it, and name settings as the command line does.
Result<Wiring> wire(const Plan& plan);

/// Has what tasks miss told of every window, as wire() does for an output of recall. Error: why there will be nothing
/// to tell.
std::optional<Error> watch_recall(const Plan& plan, const Wiring& wiring);

/// Whether its source waits for who reads it.
bool input_can_wait(const SourcePlan& source);

}  // namespace parshall
