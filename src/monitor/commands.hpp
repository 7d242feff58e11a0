// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/program.hpp"
#include "cli/topics.hpp"

namespace parshall::cli {

/// Each adds its subcommand; the parsed command sets `status`.
void add_watch(Command program, int& status);
void add_classify(Command program, int& status);
void add_send(Command program, int& status);
void add_train(Command program, int& status);
void add_profile(Command program, int& status);
void add_verify(Command program, int& status);

/// What list shows of the monitor.
std::vector<Topic> monitor_topics();

}  // namespace parshall::cli
