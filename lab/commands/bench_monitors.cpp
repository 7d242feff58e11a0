// SPDX-License-Identifier: Apache-2.0
#include "base/parse.hpp"
#include "cli/messages.hpp"
#include "lab/commands/bench_run.hpp"
#include "lab/monitors/experiment.hpp"
#include "lab/profile/stage_run.hpp"

namespace parshall::cli {
namespace {

/// Options of `bench pipeline` and `bench batch`, which run monitors on several kinds of traffic in turn.
struct MonitorsOptions {
  BenchOptions common;
  bool steps = false;  ///< also measure the steps before a table
  std::string file, traffic;
  std::vector<std::string> flows{"65536"};
  std::vector<double> zipf{0};
  std::vector<std::string> tables{"bucketed"};
  std::vector<std::string> statistics{"none"};  ///< sets of statistics, joined by +; "none" is the empty set
  std::string identity = "exact", quantiles = "histogram";
  OfferedOptions offered;
  std::vector<std::size_t> batch{256};
};

std::vector<std::string> split(const std::string& set) {
  std::vector<std::string> names;
  if (set == "none") return names;
  for (std::size_t at = 0; at <= set.size();) {
    const std::size_t end = std::min(set.find('+', at), set.size());
    names.push_back(set.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

/// Returns every table with every set of statistics and every batch, after the steps before a table.
Result<std::vector<lab::MonitorUnderTest>> monitors_of(const MonitorsOptions& options) {
  std::vector<lab::MonitorUnderTest> monitors;
  if (options.steps)
    for (const lab::Depth depth : {lab::Depth::poll, lab::Depth::decode})
      monitors.push_back({.name = std::string(lab::kDepthNames[static_cast<std::size_t>(depth)]),
                          .depth = depth,
                          .batch = options.batch.front()});
  const Identity identity = options.identity == "exact" ? Identity::exact : Identity::fingerprint;
  const auto quantiles = options.quantiles == "p2" ? QuantileMethod::p2 : QuantileMethod::histogram;
  for (const std::string& name : options.tables) {
    const auto table = find_table(name, identity);
    if (!table) return table.error();
    for (const std::string& set : options.statistics) {
      if (const auto known = make_statistics(split(set), {.quantiles = quantiles}); !known) return known.error();
      for (const std::size_t batch : options.batch)
        monitors.push_back({.name = set == "none" ? name : fmt::format("{}, {}", name, set),
                            .depth = lab::Depth::count,
                            .table = *table,
                            .identity = identity,
                            .statistics = split(set),
                            .statistic_options = {.quantiles = quantiles},
                            .batch = batch});
    }
  }
  return monitors;
}

Result<lab::MonitorSweep> sweep_of(const MonitorsOptions& options) {
  auto monitors = monitors_of(options);
  if (!monitors) return monitors.error();
  const auto offered = offered_load(options.offered);
  if (!offered) return offered.error();
  return lab::MonitorSweep{.monitors = *std::move(monitors),
                           .rounds = options.common.rounds,
                           .seed = options.common.seed,
                           .offered = *offered};
}

/// Returns specs for -g: every number of flows with every skew, unless a file or a spec is given.
Result<std::vector<std::string>> specs_of(const MonitorsOptions& options) {
  std::vector<std::string> specs;
  if (!options.file.empty()) return specs;
  if (!options.traffic.empty()) specs.push_back(options.traffic);
  for (const std::string& text : options.traffic.empty() ? options.flows : std::vector<std::string>())
    for (const double zipf : options.zipf) {
      const auto flows = parse_count(text);
      if (!flows) return Error{fmt::format("--flows {}: a number, for example 65536, 64Ki or 1M", text)};
      specs.push_back(fmt::format("flows={},dist={},seed={}", *flows,
                                  zipf == 0 ? "uniform" : fmt::format("zipf:{}", zipf), options.common.seed));
    }
  for (const std::string& spec : specs)
    if (const auto known = TrafficSpec::parse(spec); !known) return known.error();
  return specs;
}

int run_monitors(const MonitorsOptions& options, std::string_view experiment) {
  auto sweep = sweep_of(options);
  if (!sweep) return wrong_usage(sweep.error());
  auto specs = specs_of(options);
  if (!specs) return wrong_usage(specs.error());
  if (specs->empty()) specs->emplace_back();  // stands for the file
  const auto measure = [&](const auto& done, const auto& stop) -> Result<std::size_t> {
    std::size_t measured = 0;
    for (const std::string& spec : *specs) {
      const auto frames = open_frames(options.file, spec);
      if (!frames) return frames.error();
      sweep->flows = std::max<std::size_t>(1, frames->distinct_flows());
      const auto rows = lab::measure_monitors(*sweep, *frames, spec.empty() ? options.file : spec, stop);
      if (!rows) return rows.error();
      if (rows->empty()) break;
      done(lab::monitor_part(*rows));
      ++measured;
    }
    return measured;
  };
  return run_experiment(
      {.name = experiment, .columns = lab::monitor_columns(), .parts = specs->size(), .measure = measure},
      options.common);
}

/// Adds the options that both experiments take.
Command add_monitors(Command bench, const char* name, const char* help, const std::shared_ptr<MonitorsOptions>& o) {
  Command experiment = bench.add_subcommand(name, help);
  experiment->footer(
      "Packets are in memory. Tables have room for all flows of the traffic, and contain them before a clock starts.\n"
      "Times are thread CPU time of one core, in interleaved rounds. Accounts are checked before and after.");
  auto file = experiment->add_option("-r,--read", o->file, "Capture file to play");
  auto spec = experiment->add_option("-g,--generate", o->traffic, "Built-in traffic, as in watch")->excludes(file);
  experiment->add_option("--flows", o->flows, "Flows of built-in traffic: 65536, 64Ki, 1M, ...")
      ->delimiter(',')
      ->excludes(file)
      ->excludes(spec)
      ->capture_default_str();
  experiment->add_option("--zipf", o->zipf, "Skew of built-in traffic: exponent of the flow popularity, 0 for uniform")
      ->delimiter(',')
      ->excludes(file)
      ->excludes(spec)
      ->capture_default_str();
  experiment->add_option("--tables", o->tables, "Tables (parshall list tables)")->delimiter(',')->capture_default_str();
  experiment->add_option("--identity", o->identity, "Identity of flows")
      ->check(among({"exact", "fingerprint"}))
      ->capture_default_str();
  experiment->add_option("--columns", o->statistics, "Sets of statistics, joined by +: none,gap_mean,gap_p99+iat_sd")
      ->delimiter(',')
      ->capture_default_str();
  experiment->add_option("--quantiles", o->quantiles, "Method of keeping percentiles")
      ->check(among({"histogram", "p2"}))
      ->capture_default_str();
  experiment->add_option("--batch", o->batch, "Packets polled from the source at a time")
      ->delimiter(',')
      ->check(in_range(std::size_t{1}, lab::StageRun::kMaxBatch))
      ->capture_default_str();
  add_offered_options(experiment, o->offered);
  add_bench_options(experiment, o->common);
  return experiment;
}

}  // namespace

void add_bench_pipeline(Command bench, int& status) {
  auto options = std::make_shared<MonitorsOptions>();
  options->steps = true;
  options->statistics = {"none", "gap_mean", "gap_p99"};
  Command pipeline =
      add_monitors(bench, "pipeline", "Cost of each step of a packet: polling, decoding, counting, measuring", options);
  pipeline->callback([options, &status] { status = run_monitors(*options, "pipeline"); });
}

void add_bench_batch(Command bench, int& status) {
  auto options = std::make_shared<MonitorsOptions>();
  options->batch = {16, 32, 64, 128, 256, 512, 1024};
  Command batch = add_monitors(bench, "batch", "Cost of a packet, by batch size", options);
  batch->callback([options, &status] { status = run_monitors(*options, "batch"); });
}

}  // namespace parshall::cli
