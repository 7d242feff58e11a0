// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/session_options.hpp"
#include "parshall/plan.hpp"
#include "pipeline/measure/statistic.hpp"

namespace parshall {

/// Makes what labels connections, and what learns classes from the labels, as the plan asks, and adds their columns.
std::optional<Error> wire_labels(const Plan& plan, SessionOptions& session, StatisticOptions& statistics,
                                 std::vector<std::string>& columns);

}  // namespace parshall
