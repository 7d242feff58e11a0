// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/exit_status.hpp"
#include "cli/options.hpp"
#include "pipeline/output/configuration_file.hpp"

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

/// What --config named.
struct Configuration {
  std::string path;  ///< empty: none
  ConfigurationFile file;
  std::map<std::string, std::string> places;  ///< of options that the command line leaves to it: --NAME, where
};
const Configuration& configuration() noexcept;

/// Puts the place in the configuration before an error of an option, "--NAME ...", that is set there.
Error with_place(Error error);

}  // namespace parshall::cli
