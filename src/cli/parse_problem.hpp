// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/result.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace parshall::cli {

/// Returns what is wrong with a command line that CLI11 refused, in the words of the program: a word too many, a value
/// that is missing or of a wrong type, a command or an option that has to be given.
Error parse_problem(const CLI::ParseError& refused, const CLI::App& program);

}  // namespace parshall::cli
