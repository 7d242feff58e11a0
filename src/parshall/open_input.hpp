// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/result.hpp"
#include "engine/session.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// Opens the source that the plan names, with as many lanes as the thread model asks.
Result<Input> open_input(const SourcePlan& source, const SessionOptions& session);

}  // namespace parshall
