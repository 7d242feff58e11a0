// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace parshall::cli {

/// Exit statuses users' scripts rely on.
enum ExitStatus : int {
  kDone = 0,
  kFailed = 1,        ///< cannot open, cannot write, no rights
  kUsage = 2,         ///< unknown option or name, value out of range, bad filter
  kDamaged = 3,       ///< input damaged, but measured and reported up to there
  kReaderGone = 141,  ///< who read standard output wants no more: what a shell says of a program that SIGPIPE ended
};

/// Each adds its subcommand; the parsed command sets `status`.
void add_watch(CLI::App& app, int& status);
void add_classify(CLI::App& app, int& status);
void add_send(CLI::App& app, int& status);
void add_test(CLI::App& app, int& status);
void add_train(CLI::App& app, int& status);
void add_list(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);
void add_profile(CLI::App& app, int& status);

}  // namespace parshall::cli
