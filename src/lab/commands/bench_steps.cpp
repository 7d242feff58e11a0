// SPDX-License-Identifier: Apache-2.0
#include "lab/commands/bench_run.hpp"
#include "lab/steps_experiment.hpp"

namespace parshall::cli {
namespace {

struct StepsOptions {
  BenchOptions common;
  std::vector<std::string> policies;
  std::vector<double> first_steps = lab::StepsSweep().first_steps;
  std::string cases = "10000";
  double error = lab::StepsSweep().error;
};

int run_steps(const StepsOptions& options) {
  lab::StepsSweep sweep{.policies = {},
                        .first_steps = options.first_steps,
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
      "Simulated, by the code that a worker runs: a load comes that makes flows give way, and stays. windows is how "
      "many\n"
      "pass on average until the first of ten in a row in which all tasks have enough, with 95 % of its interval over\n"
      "cases; 200 where that is never. Cases differ in states, costs, load, and in what tasks lose with their flows;\n"
      "those in which no policy gives all enough are left out.\n\nPolicies:\n" +
      policies);
  auto options = std::make_shared<StepsOptions>();
  options->common.rounds = 1;
  steps->add_option("--policy", options->policies, "Which, as below (all)")->delimiter(',');
  steps->add_option("--first-step", options->first_steps, "Shares of all packets, that the first step is")
      ->delimiter(',')
      ->check(in_range(0.0025, 0.1))
      ->capture_default_str();
  steps->add_option("--cases", options->cases, "That are tried")->capture_default_str();
  steps->add_option("--error", options->error, "Standard deviation of an estimated recall, of the true one")
      ->check(in_range(0.0, 1.0))
      ->capture_default_str();
  add_bench_options(steps, options->common);
  steps->callback([options, &status] { status = run_steps(*options); });
}

}  // namespace parshall::cli
