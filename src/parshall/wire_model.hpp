// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/session.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// Loads the class model that the plan names, if any, and adds its columns.
std::optional<Error> wire_model(const Plan& plan, const PlanTexts& texts, StatisticOptions& options,
                                std::vector<std::string>& columns);

/// Adds the columns of a flow's class, unless the class was asked for by name.
void add_class_columns(const Classifier& classifier, std::vector<std::string>& columns);

/// Sets up forwarding and marking, if the plan forwards packets.
std::optional<Error> wire_forwarding(const Plan& plan, const Classifier* classifier, SessionOptions& session);

}  // namespace parshall
