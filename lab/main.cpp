// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "app/commands.hpp"
#include "lab/commands/bench_run.hpp"
#include "lab/rivals/rivals.hpp"
#include "lab/rivals/settings.hpp"

namespace {

using namespace parshall::cli;

/// Adds the lab's commands, and those of the monitor, which can use the rivals here.
void add_commands(Command program, int& status) {
  add_bench(program, status);
  add_watch(program, status);
  add_classify(program, status);
  add_send(program, status);
  add_train(program, status);
  std::vector<Topic> topics = monitor_topics();
  std::ranges::move(lab_topics(), std::back_inserter(topics));
  add_list(program, std::move(topics));
}

}  // namespace

int main(int argc, char** argv) {
  parshall::lab::add_rivals();
  parshall::add_plan_settings(parshall::lab::rival_settings());
  return run_program({.about = "Parshall's lab measures the costs of methods on this machine.",
                      .part = "bench",
                      .part_is_own = true,
                      .reads_config = true,
                      .add = add_commands},
                     argc, argv);
}
