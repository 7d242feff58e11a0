// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "parshall/plan.hpp"

namespace parshall::cli {

/// Adds to the error of a filter that cannot be compiled what was most likely meant: its words may be a second source,
/// the rest of an option's value, or another program's language. Returns other errors as they are. `before` is the
/// value that stood in front of the filter's words.
Error explained(Error error, const std::string& command, const SourcePlan& source,
                const std::optional<ValueBefore>& before);

}  // namespace parshall::cli
