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

/// Returns the command that was understood, or the program where none was.
const CLI::App& deepest_parsed(const CLI::App& program);

/// Returns a command with those around it: "parshall bench tables".
std::string path_of(const CLI::App& command);

/// Returns the long names of a command's options, without dashes.
std::vector<std::string> option_names(const CLI::App& command);

/// Returns an error about the first unknown word of a command line, a command or an option; nullopt if all words were
/// understood.
std::optional<Error> unknown_word_problem(const CLI::App& program);

}  // namespace parshall::cli
