// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive/report.hpp"
#include "lab/commands/bench_run.hpp"

namespace parshall::cli {
namespace {

struct AdaptiveOptions {
  BenchOptions common;
  std::vector<std::string> scenarios, configs{"chain", "tree"}, modes, queues{"4096"}, slots{"512Ki"};
  std::vector<double> loads;
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
  sweep.stretches = options.stretches;
  if (static_cast<double>(sweep.stretches) > sweep.seconds)
    return Error{fmt::format("--stretches {}: no more than there are seconds, of which there are {}", sweep.stretches,
                             sweep.seconds)};
  const auto modes = choose(lab::adaptive_modes(), options.modes, "mode");
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
      "A worker runs the whole monitor over built-in TCP traffic that comes at a pace, in its own time: what its "
      "thread\n"
      "worked, and what it would have waited. Load 1, which is measured first, is the rate at which it is busy for {}\n"
      "of the time with all flows in their own states. What tasks find is compared with what they find when the same\n"
      "packets wait: after a second (--warm-up), in which costs are learnt, satisfied is the share of windows of 10 "
      "ms\n"
      "with a recall and a precision of the threshold at least; by recall, what it were if nobody minded events that\n"
      "were invented. error is that of the recall that was estimated, of the true one, on average and in the worst\n"
      "window, of those with 20 events at least; bound held is the share of windows in which the recall was no less\n"
      "than was said, of those (told) of which it could be; no word says that it was 1. flows missed is the share of\n"
      "a window's flows that the task did not look at all the time; variation that of its events a flow, in ten\n"
      "windows in a row, as estimates go by; missed later, what was lost after the warm-up; loss at skew, where\n"
      "losses began as the skew fell.\n\n"
      "Scenarios:\n{}States:\n{}Modes:\n{}",
      lab::kBusyAtLoad1, lines_of(lab::adaptive_scenarios()), lines_of(lab::state_configs()),
      lines_of(lab::adaptive_modes())));
  auto options = std::make_shared<AdaptiveOptions>();
  options->common.rounds = 1;
  options->common.rounds_help = "Each with traffic of its own";
  const auto list = [&](const char* name, auto& values, const char* help) {
    return adaptive->add_option(name, values, help)->delimiter(',');
  };
  list("--scenario", options->scenarios, "Which, as below (all)");
  list("--states", options->configs, "Configurations, as below")->capture_default_str();
  list("--mode", options->modes, "What is compared, as below (all)");
  list("--load", options->loads, "Highest rates, by multiples of load 1 (the scenario's own)")
      ->check(in_range(0.01, 100.0));
  list("--queue", options->queues, "Packets that wait at most; more are missed")->capture_default_str();
  list("--slots", options->slots, "Flows that the table has room for; one that finds none has the place of another")
      ->capture_default_str();
  adaptive->add_option("--flows", options->flows, "Flows of the traffic")->capture_default_str();
  adaptive->add_option("--packets", options->packets, "Packets of the traffic in memory, before they repeat")
      ->capture_default_str();
  adaptive->add_option("--seconds", options->seconds, "Of each run")
      ->check(in_range(0.1, 3600.0))
      ->capture_default_str();
  adaptive
      ->add_option("--warm-up", options->warm_up_s,
                   "Seconds of each run, half of it at most, in which nothing is judged")
      ->check(in_range(0.0, 3600.0))
      ->capture_default_str();
  adaptive
      ->add_option(
          "--stretches", options->stretches,
          "Judge so many half seconds, spread over each run, not all of it: for long runs (0: all); the truth has a "
          "past of half a second there")
      ->check(in_range(0, 1000))
      ->capture_default_str();
  adaptive->add_option("--accuracy", options->threshold, "Recall, and precision, that satisfy")
      ->check(in_range(0.0, 1.0))
      ->capture_default_str();
  adaptive->add_option("--resend", options->resend, "Share of the packets that are sent again")
      ->check(in_range(0.0, 0.5))
      ->capture_default_str();
  add_bench_options(adaptive, options->common);
  adaptive->callback([options, &status] { status = run_adaptive(*options); });
}

}  // namespace parshall::cli
