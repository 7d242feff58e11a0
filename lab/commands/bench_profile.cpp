// SPDX-License-Identifier: Apache-2.0
#include "base/machine.hpp"
#include "base/parse.hpp"
#include "cli/messages.hpp"
#include "lab/commands/bench_run.hpp"
#include "lab/profile/report.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kProfile = "bench profile";

struct ProfileOptions {
  BenchOptions common;
  std::string states;
  std::string traffic = "flows=65536,protocol=connections";
  std::string window = "10ms";
  std::string memory;  ///< empty: a quarter of the memory available
};

Result<std::size_t> memory_of(const ProfileOptions& options) {
  if (options.memory.empty()) return available_bytes() / 4;
  const auto bytes = parse_count(options.memory);
  if (bytes && *bytes != 0) return *bytes;
  return Error{fmt::format("--memory {}: bytes, for example 512Mi or 2Gi", options.memory)};
}

Result<lab::ProfilePlan> plan_of(const ProfileOptions& options, const TrafficSpec& spec) {
  const auto table = find_table("bucketed", Identity::exact);
  if (!table) return table.error();
  const auto memory = memory_of(options);
  if (!memory) return memory.error();
  const auto window = parse_window(options.window);
  if (!window) return Error{"--" + window.error().message};
  lab::ProfilePlan plan{.sweep = {.table = *table,
                                  .flows = spec.flows,
                                  .rate_pps = spec.rate_pps,
                                  .rounds = options.common.rounds,
                                  .seed = options.common.seed},
                        .are_states = !options.states.empty(),
                        .memory_bytes = *memory};
  if (!plan.are_states) {
    plan.sweep.workloads = lab::kinds_of_work(*window);
    return plan;
  }
  const auto file = StateFile::read(options.states);
  if (!file) return file.error();
  // Tasks never run here, so they need no room for keys.
  auto states = lab::workloads_of(*file, {.window = *window, .keys = 1024, .seed = options.common.seed});
  if (!states) return Error{fmt::format("--states {}: {}", options.states, states.error().message)};
  plan.sweep.workloads = *std::move(states);
  return plan;
}

/// Makes enough packets that none is played twice, if they fit in a quarter of the memory available.
Result<lab::Frames> make_frames(TrafficSpec spec, const lab::WorkloadSweep& sweep) {
  constexpr std::size_t kLine = 64;
  const std::size_t stride = (spec.sizes.most() + kLine - 1) / kLine * kLine;
  if (spec.packets == 0)
    spec.packets = std::max(TrafficSpec().flows, std::min(lab::packets_wanted(sweep), available_bytes() / 4 / stride));
  return lab::Frames::of_spec(spec);
}

int run_profile(const ProfileOptions& options) {
  const auto spec = TrafficSpec::parse(options.traffic);
  if (!spec) return wrong_usage(spec.error());
  const auto plan = plan_of(options, *spec);
  if (!plan) return wrong_usage(plan.error());
  const Measuring measure = [&](const auto& done, const auto& stop) -> Result<std::size_t> {
    const auto frames = make_frames(*spec, plan->sweep);
    if (!frames) return frames.error();
    const auto figures = lab::measure_profile(
        *plan, *frames, [](const std::string& line) { say(kProfile, line); }, stop);
    if (!figures) return figures.error();
    if (!*figures) return std::size_t{0};
    for (const std::string& warning : (*figures)->warnings) say(kProfile, "warning: " + warning);
    done(lab::profile_part(**figures));
    return std::size_t{1};
  };
  return run_experiment({.name = "profile", .columns = lab::profile_columns(), .parts = 1, .measure = measure},
                        options.common);
}

}  // namespace

void add_bench_profile(Command bench, int& status) {
  Command profile = bench.add_subcommand("profile", "Costs of a packet: to find its flow, and of tasks' work");
  profile->footer(
      "Measures the time to find a flow in cache and in memory, and the time to start one. Then it plays\n"
      "built-in traffic and measures what each monitoring state of a file adds to a packet; without a file,\n"
      "what each kind of task work adds. Times are thread CPU time of one core, in interleaved rounds.");
  auto options = std::make_shared<ProfileOptions>();
  profile->add_option("--states", options->states, "TOML file of monitoring states to measure, as in watch");
  profile->add_option("-g,--generate", options->traffic, "Built-in traffic for monitors, as in watch")
      ->capture_default_str();
  profile->add_option("--window", options->window, "Default window of tasks: 100ms, 2Mp, ...")->capture_default_str();
  profile->add_option(
      "--memory", options->memory,
      "Largest size of the table that exceeds the caches: 512Mi, 2Gi, ... (a quarter of the memory available)");
  add_bench_options(profile, options->common);
  profile->callback([options, &status] { status = run_profile(*options); });
}

}  // namespace parshall::cli
