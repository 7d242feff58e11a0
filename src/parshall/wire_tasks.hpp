// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "parshall/wiring.hpp"

namespace parshall {

/// Tasks, the states of flows, and how flows give way; nothing where the plan has no task.
std::optional<Error> wire_tasks(const Plan& plan, Wiring& wiring);

}  // namespace parshall
