// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive/report.hpp"
#include "lab/commands/bench_run.hpp"

namespace parshall::cli {
namespace {

struct AdaptiveOptions {
  BenchOptions common;
  std::vector<std::string> scenarios, configs{"chain", "tree"}, modes, queues{"4096"}, slots{"512Ki"};
  std::vector<double> loads, rates;
  std::uint64_t stretches = 0;
  std::string flows = "250000", packets = "8Mi";
  double seconds = 3, warm_up_s = 1, threshold = 0.75, resend = 0.005;
};

Result<lab::AdaptiveSweep> plan(const AdaptiveOptions& options) {
  lab::AdaptiveSweep sweep{.seconds = options.seconds,
                           .threshold = options.threshold,
                           .resend_share = options.resend,
                           .warm_up_s = options.warm_up_s,
                           .rounds = options.common.rounds,
                           .seed = options.common.seed};
  const auto scenarios = choose(lab::adaptive_scenarios(), options.scenarios, "scenario");
  if (!scenarios) return scenarios.error();
  sweep.scenarios = *scenarios;
  const auto configs = choose(lab::state_configs(), options.configs, "states");
  if (!configs) return configs.error();
  sweep.configs = *configs;
  sweep.loads = options.loads;
  for (const double mpps : options.rates) sweep.rates_pps.push_back(1e6 * mpps);
  sweep.stretches = options.stretches;
  if (static_cast<double>(sweep.stretches) > sweep.seconds)
    return Error{fmt::format("--stretches {}: give at most the number of seconds, {}", sweep.stretches, sweep.seconds)};
  const auto modes = choose(overload_policies(), options.modes, "mode");
  if (!modes) return modes.error();
  sweep.modes = *modes;
  sweep.queues.clear();
  for (const std::string& queue : options.queues) {
    const auto count = count_of("--queue", queue, std::size_t{1} << 24);
    if (!count) return count.error();
    sweep.queues.push_back(*count);
  }
  sweep.slots.clear();
  for (const std::string& slots : options.slots) {
    const auto count = count_of("--slots", slots, std::size_t{1} << 24);
    if (!count) return count.error();
    sweep.slots.push_back(*count);
  }
  const auto flows = count_of("--flows", options.flows, std::size_t{1} << 18);
  if (!flows) return flows.error();
  sweep.flows = *flows;
  const auto packets = count_of("--packets", options.packets, std::size_t{1} << 27);
  if (!packets) return packets.error();
  sweep.trace_packets = *packets;
  return sweep;
}

int run_adaptive(const AdaptiveOptions& options) {
  const auto sweep = plan(options);
  if (!sweep) return wrong_usage(sweep.error());
  const auto measure = [&](const auto& done, const auto& stop) {
    return lab::measure_adaptive(
        *sweep, [&](std::span<const lab::AdaptiveRow> rows) { done(lab::adaptive_part(rows)); }, stop);
  };
  return run_experiment(
      {.name = "adaptive",
       .columns = lab::adaptive_columns(),
       .parts = sweep->scenarios.size() * sweep->configs.size() * static_cast<std::size_t>(sweep->rounds),
       .measure = measure},
      options.common);
}

}  // namespace

namespace {

/// Formats a line for each entry: its name and help.
template <class Entry>
std::string lines_of(std::span<const Entry> entries) {
  std::string lines;
  for (const Entry& entry : entries) lines += fmt::format("  {:<12} {}\n", entry.name, entry.help);
  return lines;
}

}  // namespace

void add_bench_adaptive(Command bench, int& status) {
  Command adaptive =
      bench.add_subcommand("adaptive", "Adaptation under overload: packets lost, and what tasks still find");
  adaptive->footer(fmt::format(
      "A worker runs the whole monitor over built-in TCP traffic that arrives at a pace. Its clock counts the\n"
      "thread's CPU time and the time it would have waited. Load 1 is measured first: the rate at which the\n"
      "worker is busy for {} of the time with all flows in their own states. What tasks find is compared with a\n"
      "run in which packets wait. Costs are learnt during --warm-up; after it, the columns are:\n"
      "  satisfied     share of windows of 10 ms in which recall and precision reach the threshold\n"
      "  by count      the same for each event instead of flows, for recall alone\n"
      "  by recall     the same for recall alone\n"
      "  error, worst  mean and largest error of the estimated recall, in windows with at least 20 events\n"
      "  bound known   share of windows for which a lower bound of the recall is known (1 without a report)\n"
      "  bound held    share of these windows in which the recall was at least that bound\n"
      "  flows missed  share of a window's flows that the task did not inspect all the time\n"
      "  variation     variation of a task's events per flow over ten windows, as the estimates assume it\n"
      "  missed later  packets lost after the warm-up\n"
      "  loss at skew  skew at which losses began as it fell\n\n"
      "Scenarios:\n"
      "{}States:\n"
      "{}Modes:\n"
      "{}",
      lab::kBusyAtLoad1, lines_of(lab::adaptive_scenarios()), lines_of(lab::state_configs()),
      lines_of(overload_policies())));
  auto options = std::make_shared<AdaptiveOptions>();
  options->common.rounds = 1;
  options->common.rounds_help = "Rounds, each with its own traffic";
  const auto list = [&](const char* name, auto& values, const char* help) {
    return adaptive->add_option(name, values, help)->delimiter(',');
  };
  list("--scenario", options->scenarios, "Scenarios, as below (all)");
  list("--states", options->configs, "Configurations, as below")->capture_default_str();
  list("--mode", options->modes, "Modes to compare, as below (all)");
  const auto load = list("--load", options->loads, "Highest rates, as multiples of load 1 (the scenario's own)")
                        ->check(in_range(0.01, 100.0));
  list("--mpps", options->rates, "Highest rates in million packets per second, instead of --load")
      ->check(in_range(0.001, 1000.0))
      ->excludes(load);
  list("--queue", options->queues, "Capacity of the queue in packets; further packets are missed")
      ->capture_default_str();
  list("--slots", options->slots, "Capacity of the table in flows; if it is full, a new flow evicts another")
      ->capture_default_str();
  adaptive->add_option("--flows", options->flows, "Flows of the traffic")->capture_default_str();
  adaptive->add_option("--packets", options->packets, "Packets of the traffic in memory before it repeats")
      ->capture_default_str();
  adaptive->add_option("--seconds", options->seconds, "Seconds of each run")
      ->check(in_range(0.1, 3600.0))
      ->capture_default_str();
  adaptive
      ->add_option("--warm-up", options->warm_up_s,
                   "Seconds at the start of each run that are not judged; at most half of it")
      ->check(in_range(0.0, 3600.0))
      ->capture_default_str();
  adaptive
      ->add_option("--stretches", options->stretches,
                   "Judge only this number of half seconds, spread over each run (0: judge all of it); the exact "
                   "results then start half a second earlier")
      ->check(in_range(0, 1000))
      ->capture_default_str();
  adaptive->add_option("--accuracy", options->threshold, "Recall and precision of a satisfied window")
      ->check(in_range(0.0, 1.0))
      ->capture_default_str();
  adaptive->add_option("--resend", options->resend, "Fraction of packets that are retransmitted")
      ->check(in_range(0.0, 0.5))
      ->capture_default_str();
  add_bench_options(adaptive, options->common);
  adaptive->callback([options, &status] { status = run_adaptive(*options); });
}

}  // namespace parshall::cli
