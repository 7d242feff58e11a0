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
  Command states = bench.add_subcommand("states", "Cost of monitoring states without their tasks");
  std::string ways;
  for (const lab::StatesWayEntry& way : lab::states_ways()) ways += fmt::format("  {:<12} {}\n", way.name, way.help);
  states->footer(
      "Runs the same monitor on one core, with the same task for all flows in every state, in windows of 10 ms.\n"
      "Any additional cost is the cost of states. Flows send in turn. Ratios are to the first way. us a window\n"
      "is the time for the packets of a window. reduced is the share of packets in a lighter state than their\n"
      "flow's own. A thread other than the worker makes the estimates.\n\n"
      "Ways:\n" +
      ways);
  auto options = std::make_shared<StatesOptions>();
  states->add_option("--states", options->states, "Numbers of states")
      ->delimiter(',')
      ->check(in_range(2, 64))
      ->capture_default_str();
  states->add_option("--flows", options->flows, "Number of flows; all have packets in each window")
      ->delimiter(',')
      ->capture_default_str();
  states->add_option("--rate", options->rate_pps, "Packets per second, by their time stamps")
      ->check(in_range(1e5, 1e9))
      ->capture_default_str();
  states->add_option("--tasks", options->tasks, "Number of tasks whose recall is estimated")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  add_bench_options(states, options->common);
  states->callback([options, &status] { status = run_states(*options); });
}

}  // namespace parshall::cli
