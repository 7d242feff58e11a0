// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "parshall/wiring.hpp"

namespace parshall {

/// Sets up tasks, the states of flows, and how flows are reduced under overload. Does nothing if the plan has no task.
std::optional<Error> wire_tasks(const Plan& plan, const PlanTexts& texts, Wiring& wiring);

/// Makes the run report the recall of every window. Error: why there is nothing to report.
std::optional<Error> watch_recall(const Plan& plan, const Wiring& wiring);

}  // namespace parshall
