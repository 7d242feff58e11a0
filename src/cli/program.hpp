// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/exit_status.hpp"
#include "cli/options.hpp"
#include "pipeline/output/files/configuration_file.hpp"

namespace parshall::cli {

/// One of the programs, as described by its main function.
struct Program {
  std::string about;          ///< one sentence, for --help
  std::string part;           ///< subcommand of parshall that also calls it; empty: it is parshall itself
  bool part_is_own = false;   ///< true: it also has a subcommand of that name
  bool reads_config = false;  ///< --config FILE: options of watch
  std::function<void(Command program, int& status)> add;  ///< adds its subcommands; the parsed one sets `status`
};

/// Returns the words with "--help" at their end instead of "help" at their beginning, as in `parshall help watch`.
/// Shape: without the final null pointer.
std::vector<char*> with_help_option(int argc, char** argv);

/// Parses and runs the subcommand; reports errors on standard error. Returns the exit status.
int run_program(const Program& program, int argc, char** argv);

/// Configuration named by --config.
struct Configuration {
  std::string path;  ///< empty: none
  ConfigurationFile file;
  std::map<std::string, std::string> places;  ///< options set by the file: --NAME, and its place there
};
const Configuration& configuration() noexcept;

/// Adds the place in the configuration to an error of an option, "--NAME ...", that is set there.
Error with_place(Error error);

}  // namespace parshall::cli
