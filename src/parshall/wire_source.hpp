// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "parshall/wiring.hpp"

namespace parshall {

/// Sets how much is read, the filter and the observation point. Call it after the threads are set. Error: the traffic,
/// device or filter is invalid, or does not go with the threads.
std::optional<Error> wire_source(const SourcePlan& source, const RunNeeds& needs, const Held& held, Wiring& wiring);

}  // namespace parshall
