// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive/steps_experiment.hpp"
#include "lab/commands/bench_run.hpp"

namespace parshall::cli {
namespace {

struct StepsOptions {
  BenchOptions common;
  std::vector<std::string> policies;
  std::vector<double> first_steps = lab::StepsSweep().first_steps;
  std::string cases = "5000";
  double error = lab::StepsSweep().error, added_step = lab::StepsSweep().added_step;
};

int run_steps(const StepsOptions& options) {
  lab::StepsSweep sweep{.policies = {},
                        .first_steps = options.first_steps,
                        .added_step = options.added_step,
                        .cases = 0,
                        .error = options.error,
                        .rounds = options.common.rounds,
                        .seed = options.common.seed};
  const auto policies = choose(lab::step_policies(), options.policies, "policy");
  if (!policies) return wrong_usage(policies.error());
  sweep.policies = *policies;
  const auto cases = count_of("--cases", options.cases, lab::StepsSweep::kMostCases);
  if (!cases) return wrong_usage(cases.error());
  sweep.cases = *cases;
  return run_sweep("steps", sweep, lab::steps_columns(), static_cast<std::size_t>(sweep.rounds), lab::measure_steps,
                   lab::steps_part, options.common);
}

}  // namespace

void add_bench_steps(Command bench, int& status) {
  Command steps =
      bench.add_subcommand("steps", "How soon accuracy control gives all tasks enough, by how its step changes");
  std::string policies;
  for (const lab::StepPolicy& policy : lab::step_policies())
    policies += fmt::format("  {:<12} {}\n", policy.name, policy.help);
  steps->footer(
      "Simulated, by the recovery of gaps that a worker runs behind adaptation, and nothing else of it: a load comes "
      "under\n"
      "which flows give way, and stays. There is time for all tasks to have enough, by some way of giving it, and "
      "adaptation\n"
      "alone does not do so. windows is how many pass on average until the first of ten in a row in which all have "
      "enough,\n"
      "of cases that all policies come to from that first step; reached is the share of all cases that each comes to "
      "within\n"
      "200 windows. Intervals are of 95 %, over cases, which differ in states, costs, load, and in what tasks lose "
      "with "
      "their\nflows.\n\nPolicies:\n" +
      policies);
  auto options = std::make_shared<StepsOptions>();
  options->common.rounds = 1;
  options->common.rounds_help = "Each with cases of its own";
  options->common.seed_help = "Of the cases";
  steps->add_option("--policy", options->policies, "Which, as below (all)")->delimiter(',');
  steps->add_option("--first-step", options->first_steps, "Shares of all packets, that the first step is")
      ->delimiter(',')
      ->check(in_range(0.0025, 0.1))
      ->capture_default_str();
  steps->add_option("--add", options->added_step, "Share of all packets, that is added or taken off")
      ->check(in_range(0.0001, 0.1))
      ->capture_default_str();
  steps->add_option("--cases", options->cases, "That are tried")->capture_default_str();
  steps->add_option("--error", options->error, "Standard deviation of an estimated recall, of the true one")
      ->check(in_range(0.0, 1.0))
      ->capture_default_str();
  add_bench_options(steps, options->common);
  steps->callback([options, &status] { status = run_steps(*options); });
}

}  // namespace parshall::cli
