// SPDX-License-Identifier: Apache-2.0
#include "lab/commands/bench_run.hpp"
#include "lab/overload/experiment.hpp"

namespace parshall::cli {
namespace {

struct OverloadOptions {
  BenchOptions common;
  std::vector<std::string> policies{"adapt"};
  bool quick = false;
};

int run_overload(const OverloadOptions& options) {
  lab::OverloadSweep sweep{.policies = {},
                           .cells = lab::overload_cells(options.quick),
                           .length = {.warm_up_s = options.quick ? 0.5 : 1},
                           .rounds = options.quick ? 1 : options.common.rounds,
                           .seed = options.common.seed};
  const auto policies = choose(overload_policies(), options.policies, "policy");
  if (!policies) return wrong_usage(policies.error());
  sweep.policies = *policies;
  if (std::ranges::all_of(sweep.policies, [](const auto* policy) { return policy == &no_adaptation(); }))
    return wrong_usage(Error{"--policy off: it is what other policies are compared with, so name another, too"});
  std::size_t cells = 0, no_worse = 0;
  const Measuring measure = [&](const auto& done, const auto& stop) {
    return lab::simulate_overload(
        sweep,
        [&](std::span<const lab::OverloadRow> rows) {
          lab::Part part = lab::overload_part(rows);
          ++cells;
          no_worse += std::ranges::all_of(
              rows.subspan(1), [&](const lab::OverloadRow& row) { return lab::is_no_worse(row, rows.front()); });
          if (cells == sweep.cells.size())
            part.verdict += fmt::format("{}{} of {} cells at or above no adaptation", part.verdict.empty() ? "" : "\n",
                                        no_worse, cells);
          done(part);
        },
        stop);
  };
  const int status = run_experiment(
      {.name = "overload", .columns = lab::overload_columns(), .parts = sweep.cells.size(), .measure = measure},
      options.common);
  return status == kDone && no_worse < cells ? kFailed : status;
}

}  // namespace

void add_bench_overload(Command bench, int& status) {
  Command overload = bench.add_subcommand("overload", "Simulate which tasks are satisfied under overload, by policy");
  std::string policies;
  for (const OverloadPolicyEntry& policy : overload_policies())
    policies += fmt::format("  {:<13} {}\n", policy.name, policy.help);
  overload->footer(
      "Simulates a worker packet by packet, with costs that were measured. The same seed gives the same result in\n"
      "each run. Load 1 is the rate at which all four tasks take 95 % of the time.\n"
      "by flows  tasks of four that find 75 % of the flows that have events, with a precision of 75 %\n"
      "by count  tasks that find 75 % of all retransmissions, latency changes, heavy hitters or bursts\n"
      "worst     the same in the worst round\n"
      "most      about the most that a policy could reach that knows what comes and loses no packet\n"
      "Being at or above no adaptation allows for 0.05 less by count, and 0.1 less by flows. The exit status is 1\n"
      "if any policy is below in any cell.\n\n"
      "Policies:\n" +
      policies);
  auto options = std::make_shared<OverloadOptions>();
  options->common.rounds = lab::OverloadSweep().rounds;
  options->common.rounds_help = "Rounds, each with other traffic and noise";
  options->common.seed_help = "Seed of the traffic and the noise";
  overload->add_option("--policy", options->policies, "Policies to compare with off, as below")
      ->delimiter(',')
      ->capture_default_str();
  overload->add_flag("--quick", options->quick, "Only twelve cells, in one round each");
  add_bench_options(overload, options->common);
  overload->callback([options, &status] { status = run_overload(*options); });
}

}  // namespace parshall::cli
