// SPDX-License-Identifier: Apache-2.0
#include "tester/commands/test.hpp"

namespace {

using namespace parshall::cli;

void add_commands(Command program, int& status) {
  add_test_run(program, status);
  add_test_search(program, status);
  add_test_between(program, status);
  add_test_link(program, status);
  add_test_echo_server(program, status);
  add_test_echo_clients(program, status);
  add_test_watch_loss(program, status);
  add_list(program, test_topics());
}

}  // namespace

int main(int argc, char** argv) {
  return run_program({.about = "Test devices, TCP stacks and monitors",
                      .part = "test",
                      .part_is_own = false,
                      .reads_config = false,
                      .add = add_commands},
                     argc, argv);
}
