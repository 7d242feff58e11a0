// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/program.hpp"
#include "cli/topics.hpp"

namespace parshall::cli {

/// Adds its subcommand to the program; the parsed command sets `status`.
void add_watch(Command program, int& status);
void add_classify(Command program, int& status);
void add_compare(Command program, int& status);
void add_send(Command program, int& status);
void add_train(Command program, int& status);
void add_verify(Command program, int& status);

/// Returns the topics of `list` that the monitor adds.
std::vector<Topic> monitor_topics();

}  // namespace parshall::cli
