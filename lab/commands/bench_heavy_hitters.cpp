// SPDX-License-Identifier: Apache-2.0
#include "base/parse.hpp"
#include "lab/commands/bench_run.hpp"
#include "lab/heavy_hitters/experiment.hpp"

namespace parshall::cli {
namespace {

struct HeavyHittersOptions {
  BenchOptions common;
  std::string file, traffic = "flows=250000,dist=zipf:1.1,packets=4000000,rate=10000000";
  std::vector<std::string> ways, windows{"10ms"}, widths{"16Ki"}, one_in{"16", "1"};
  double threshold = 0.001;
};

Result<lab::HeavyHittersSweep> plan(const HeavyHittersOptions& options) {
  lab::HeavyHittersSweep sweep{
      .threshold = options.threshold, .rounds = options.common.rounds, .seed = options.common.seed};
  const auto ways = choose(lab::heavy_hitters_ways(), options.ways, "way");
  if (!ways) return ways.error();
  sweep.ways = *ways;
  sweep.windows_ns.clear();
  for (const std::string& text : options.windows) {
    const auto window = parse_duration_ns(text);
    if (!window || *window < 1'000'000) return Error{fmt::format("--window {}: a time from 1ms", text)};
    sweep.windows_ns.push_back(*window);
  }
  sweep.widths.clear();
  for (const std::string& text : options.widths) {
    const auto width = count_of("--width", text, std::size_t{1} << 24);
    if (!width) return width.error();
    sweep.widths.push_back(*width);
  }
  sweep.one_in.clear();
  for (const std::string& text : options.one_in) {
    const auto packets = count_of("--one-in", text, 1 << 16);
    if (!packets) return packets.error();
    sweep.one_in.push_back(*packets);
  }
  return sweep;
}

int run_heavy_hitters(const HeavyHittersOptions& options) {
  const auto sweep = plan(options);
  if (!sweep) return wrong_usage(sweep.error());
  const std::string spec = options.file.empty() ? options.traffic : "";
  if (!spec.empty())
    if (const auto known = TrafficSpec::parse(spec); !known) return wrong_usage(known.error());
  const auto measure = [&](const auto& done, const auto& stop) -> Result<std::size_t> {
    const auto frames = open_frames(options.file, spec);
    if (!frames) return frames.error();
    return lab::measure_heavy_hitters(
        *sweep, *frames, spec.empty() ? options.file : spec,
        [&](std::span<const lab::HeavyHittersRow> rows) { done(lab::heavy_hitters_part(rows)); }, stop);
  };
  return run_experiment({.name = "heavy-hitters",
                         .columns = lab::heavy_hitters_columns(),
                         .parts = sweep->windows_ns.size(),
                         .measure = measure},
                        options.common);
}

}  // namespace

void add_bench_heavy_hitters(Command bench, int& status) {
  Command heavy_hitters =
      bench.add_subcommand("heavy-hitters", "Cost and accuracy of one task with all flows kept, and with sketches");
  std::string ways;
  for (const auto& way : lab::heavy_hitters_ways()) ways += fmt::format("  {:<12} {}\n", way.name, way.help);
  heavy_hitters->footer(
      "The task finds the sources with the most packets of each window. All ways poll, decode and hash in the\n"
      "same way, on one core, from memory, with the traffic's time stamps. Ratios are to the first way. The\n"
      "reports of the first pass are compared with exact results. The accuracy of a sketch depends on its\n"
      "width.\n\n"
      "Ways:\n" +
      ways);
  auto options = std::make_shared<HeavyHittersOptions>();
  const auto list = [&](const char* name, auto& values, const char* help) {
    return heavy_hitters->add_option(name, values, help)->delimiter(',');
  };
  list("--way", options->ways, "Ways; the first is the reference (all)");
  list("--window", options->windows, "Lengths of windows")->capture_default_str();
  list("--width", options->widths, "Counters in each row of a sketch")->capture_default_str();
  list("--one-in", options->one_in, "Sampling: a row of nitro counts one packet in this number")->capture_default_str();
  heavy_hitters->add_option("--threshold", options->threshold, "Smallest share of a window's packets of a heavy hitter")
      ->check(in_range(1e-6, 1.0))
      ->capture_default_str();
  auto file = heavy_hitters->add_option("-r,--read", options->file, "Capture file to play");
  heavy_hitters->add_option("-g,--generate", options->traffic, "Built-in traffic, as in watch, at rate=PPS")
      ->capture_default_str()
      ->excludes(file);
  add_bench_options(heavy_hitters, options->common);
  heavy_hitters->callback([options, &status] { status = run_heavy_hitters(*options); });
}

}  // namespace parshall::cli
