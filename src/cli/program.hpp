// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cli/exit_status.hpp"
#include "cli/options.hpp"

namespace parshall::cli {

/// One of the programs, as its main describes it.
struct Program {
  std::string about;          ///< one sentence, for --help
  std::string part;           ///< the subcommand of parshall that it is called by too; empty: it is parshall itself
  bool part_is_own = false;   ///< and a subcommand of its own of that name, too
  bool reads_config = false;  ///< --config FILE: options of watch
  std::function<void(Command program, int& status)> add;  ///< its subcommands; the parsed one sets `status`
};

/// Returns the words with "--help" at their end instead of "help" at their beginning, as in `parshall help watch`.
/// Shape: without the null pointer behind them.
std::vector<char*> with_help_option(int argc, char** argv);

/// Parses and runs the subcommand; what is wrong is said on standard error. The exit status.
int run_program(const Program& program, int argc, char** argv);

/// What --config named, beside options.
struct Configuration {
  std::string path;                  ///< empty: none
  std::vector<std::string> exports;  ///< its [[export]] tables, as words of --export
  std::string rest;                  ///< all else, as it was
};
const Configuration& configuration() noexcept;

}  // namespace parshall::cli
