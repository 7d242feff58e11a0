// SPDX-License-Identifier: Apache-2.0
#include "cli/test.hpp"

namespace parshall::cli {

void add_test(CLI::App& app, int& status) {
  CLI::App* test = app.add_subcommand("test", "Test what is under test: devices, TCP stacks, monitors");
  test->require_subcommand(1);
  add_test_run(*test, status);
  add_test_search(*test, status);
  add_test_link(*test, status);
  add_test_echo_server(*test, status);
  add_test_echo_clients(*test, status);
  add_test_watch_loss(*test, status);
}

}  // namespace parshall::cli
