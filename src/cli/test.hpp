// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/commands.hpp"

namespace parshall::cli {

/// The subcommands of `parshall test`, each in a file of its name.
void add_test_run(CLI::App& test, int& status);
void add_test_search(CLI::App& test, int& status);
void add_test_link(CLI::App& test, int& status);
void add_test_echo_server(CLI::App& test, int& status);
void add_test_echo_clients(CLI::App& test, int& status);
void add_test_watch_loss(CLI::App& test, int& status);

}  // namespace parshall::cli
