// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "parshall/wiring.hpp"

namespace parshall {

/// Sets how long and how much is read. Error: the source does not fit the threads, which must be set before.
std::optional<Error> wire_source(const SourcePlan& source, Wiring& wiring);

}  // namespace parshall
