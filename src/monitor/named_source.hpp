// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/result.hpp"
#include "parshall/plan.hpp"

namespace parshall::cli {

/// Puts the first word of a command line where it belongs. Without -r, -i or -g it is the source: "-" for standard
/// input, else a file of that name, else an interface or a device; otherwise it is the first word of the filter.
/// Error: nothing has that name. It says what would work in `command`, such as "watch".
std::optional<Error> place_first_word(const std::string& word, const std::string& command, SourcePlan& source);

/// Returns what there is instead of a file that `command` should send, or nothing where it is there, or "-".
std::optional<Error> missing_file_problem(const std::string& path);

}  // namespace parshall::cli
