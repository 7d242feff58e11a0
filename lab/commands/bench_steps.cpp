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
      bench.add_subcommand("steps", "Time until accuracy control satisfies all tasks, by how its step changes");
  std::string policies;
  for (const lab::StepPolicy& policy : lab::step_policies())
    policies += fmt::format("  {:<12} {}\n", policy.name, policy.help);
  steps->footer(
      "Simulates only the recovery of gaps that a worker runs after adaptation. A load arrives that reduces\n"
      "flows, and it lasts. There is a division of time that satisfies all tasks, and adaptation alone does not\n"
      "find it.\n"
      "windows  mean number of windows until the first of ten in a row in which all tasks are satisfied, over\n"
      "         the cases that all policies solve from that first step\n"
      "reached  share of all cases that a policy solves within 200 windows\n"
      "Intervals are 95 % intervals over cases. Cases differ in states, costs, load, and what tasks lose with\n"
      "their flows.\n\n"
      "Policies:\n" +
      policies);
  auto options = std::make_shared<StepsOptions>();
  options->common.rounds = 1;
  options->common.rounds_help = "Rounds, each with its own cases";
  options->common.seed_help = "Seed of the cases";
  steps->add_option("--policy", options->policies, "Policies, as below (all)")->delimiter(',');
  steps->add_option("--first-step", options->first_steps, "First steps, as fractions of all packets")
      ->delimiter(',')
      ->check(in_range(0.0025, 0.1))
      ->capture_default_str();
  steps->add_option("--add", options->added_step, "Fraction of all packets to add or subtract")
      ->check(in_range(0.0001, 0.1))
      ->capture_default_str();
  steps->add_option("--cases", options->cases, "Number of cases")->capture_default_str();
  steps->add_option("--error", options->error, "Standard deviation of the estimated recall from the true one")
      ->check(in_range(0.0, 1.0))
      ->capture_default_str();
  add_bench_options(steps, options->common);
  steps->callback([options, &status] { status = run_steps(*options); });
}

}  // namespace parshall::cli
