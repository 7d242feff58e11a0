// SPDX-License-Identifier: Apache-2.0
#include "lab/commands/bench_run.hpp"
#include "lab/states/experiment.hpp"

namespace parshall::cli {
namespace {

struct StatesOptions {
  BenchOptions common;
  std::vector<std::size_t> states = lab::StatesSweep().states;
  std::vector<std::string> flows{"100", "500", "1000"};
  double rate_pps = lab::StatesSweep().rate_pps;
  std::size_t tasks = lab::StatesSweep().tasks;
};

int run_states(const StatesOptions& options) {
  lab::StatesSweep sweep{.states = options.states,
                         .flows = {},
                         .rate_pps = options.rate_pps,
                         .tasks = options.tasks,
                         .rounds = options.common.rounds,
                         .seed = options.common.seed};
  for (const std::string& text : options.flows) {
    const auto flows = count_of("--flows", text, lab::StatesSweep::kMostFlows);
    if (!flows) return wrong_usage(flows.error());
    sweep.flows.push_back(*flows);
  }
  return run_sweep("states", sweep, lab::states_columns(), sweep.states.size() * sweep.flows.size(),
                   lab::measure_states, lab::states_part, options.common);
}

}  // namespace

void add_bench_states(Command bench, int& status) {
  Command states = bench.add_subcommand("states", "What monitoring states cost beside what tasks do in them");
  std::string ways;
  for (const lab::StatesWayEntry& way : lab::states_ways()) ways += fmt::format("  {:<12} {}\n", way.name, way.help);
  states->footer(
      "The same monitor on one core, with the same task for all flows whatever their state, in windows of 10 ms: what "
      "costs\n"
      "more is for states alone. Flows take turns. Ratios are to the first way; us a window is what its packets take.\n"
      "reduced is the share of packets in a lighter state than their flow's own. Estimates are made by another thread "
      "than\nthe worker's.\n\nWays:\n" +
      ways);
  auto options = std::make_shared<StatesOptions>();
  states->add_option("--states", options->states, "Numbers of states")
      ->delimiter(',')
      ->check(in_range(2, 64))
      ->capture_default_str();
  states->add_option("--flows", options->flows, "Flows, all of which have packets in a window")
      ->delimiter(',')
      ->capture_default_str();
  states->add_option("--rate", options->rate_pps, "Packets a second, by their times")
      ->check(in_range(1e5, 1e9))
      ->capture_default_str();
  states->add_option("--tasks", options->tasks, "Tasks whose recall is estimated")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  add_bench_options(states, options->common);
  states->callback([options, &status] { status = run_states(*options); });
}

}  // namespace parshall::cli
