// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "parshall/wiring.hpp"

namespace parshall {

/// How long and how much is read, and what does not go with the threads: the wiring has them.
std::optional<Error> wire_source(const SourcePlan& source, Wiring& wiring);

}  // namespace parshall
