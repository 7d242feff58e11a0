// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/session.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// Loads the class model that the plan names, if any, and adds its column unless it was asked for already.
std::optional<Error> wire_model(const Plan& plan, const PlanTexts& texts, StatisticOptions& options,
                                std::vector<std::string>& columns);

/// Sets up forwarding and marking, if the plan forwards packets.
std::optional<Error> wire_forwarding(const Plan& plan, const Classifier* classifier, SessionOptions& session);

}  // namespace parshall
