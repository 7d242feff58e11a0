// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace parshall::cli {

/// Returns the long names of a command's options, without dashes.
std::vector<std::string> option_names(const CLI::App& command);

/// Returns what is wrong with the first word that a command line had too many: a command or an option that there is
/// not. Nothing where all words were understood.
std::optional<Error> unknown_word_problem(const CLI::App& program);

}  // namespace parshall::cli
