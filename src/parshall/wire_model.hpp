// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/session.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// The model that tells classes, whose column is there, asked for or not. None where the plan names none.
std::optional<Error> wire_model(const Plan& plan, StatisticOptions& options, std::vector<std::string>& columns);

/// What goes on, and how it is marked; nothing where packets go nowhere.
std::optional<Error> wire_forwarding(const Plan& plan, const Classifier* classifier, SessionOptions& session);

}  // namespace parshall
