// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/program.hpp"
#include "cli/topics.hpp"

namespace parshall::cli {

/// Adds a subcommand of parshall-test; each is in a file of its name.
void add_test_run(Command test, int& status);
void add_test_search(Command test, int& status);
void add_test_between(Command test, int& status);
void add_test_link(Command test, int& status);
void add_test_echo_server(Command test, int& status);
void add_test_echo_clients(Command test, int& status);
void add_test_watch_loss(Command test, int& status);

/// Returns the topics of `list` about tests.
std::vector<Topic> test_topics();

}  // namespace parshall::cli
