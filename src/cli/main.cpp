// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands.hpp"

int main(int argc, char** argv) {
  CLI::App app("Parshall watches every packet of a link and keeps exact statistics per flow.", "parshall");
  app.require_subcommand(1);
  app.set_version_flag("--version", PARSHALL_VERSION);
  app.get_formatter()->column_width(34);
  int status = parshall::cli::kDone;
  parshall::cli::add_watch(app, status);
  parshall::cli::add_list(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "parshall: {}\nparshall: `parshall watch --help` lists the options\n", error.what());
    return parshall::cli::kUsage;
  }
  return status;
}
