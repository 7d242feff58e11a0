// SPDX-License-Identifier: Apache-2.0
#include "lab/commands/bench_run.hpp"
#include "lab/contention/report.hpp"

namespace parshall::cli {
namespace {

struct ContentionOptions {
  BenchOptions common;
  std::vector<std::string> flows{"65536"}, sharing{"same"};
  std::vector<double> zipf{0};
  std::vector<std::size_t> cores{1, 2};
  std::string epoch = "2M";
};

std::optional<Error> wrong_sweep(const lab::ContentionSweep& sweep) {
  for (const double zipf : sweep.zipf)
    if (!(zipf >= 0 && zipf <= 5)) return Error{fmt::format("--zipf {}: an exponent from 0 (uniform) to 5", zipf)};
  const std::size_t most = lab::OnOneCore().others().size() + 1;
  for (const std::size_t cores : sweep.cores)
    if (cores < 1 || cores > most)
      return Error{fmt::format("--cores {}: from 1 to {}, the cores that this process may use", cores, most)};
  return std::nullopt;
}

Result<lab::ContentionSweep> plan(const ContentionOptions& options) {
  lab::ContentionSweep sweep{.flows = {},
                             .zipf = options.zipf,
                             .sharing = {},
                             .cores = options.cores,
                             .rounds = options.common.rounds,
                             .seed = options.common.seed};
  for (const std::string& text : options.flows) {
    const auto flows = count_of("--flows", text, lab::ContentionSweep::kMaxFlows);
    if (!flows) return flows.error();
    sweep.flows.push_back(*flows);
  }
  const auto sharing = choose_names<lab::Sharing>(lab::kSharingNames, options.sharing, "sharing");
  if (!sharing) return sharing.error();
  sweep.sharing = *sharing;
  const auto epoch = count_of("--epoch", options.epoch, std::size_t{1} << 30);
  if (!epoch) return epoch.error();
  sweep.epoch_packets = *epoch;
  if (auto wrong = wrong_sweep(sweep)) return *std::move(wrong);
  return sweep;
}

int run_contention(const ContentionOptions& options) {
  const auto sweep = plan(options);
  if (!sweep) return wrong_usage(sweep.error());
  return run_sweep("contention", *sweep, lab::contention_columns(), lab::cases(*sweep), lab::measure_contention,
                   lab::contention_part, options.common);
}

}  // namespace

void add_bench_contention(Command bench, int& status) {
  Command contention =
      bench.add_subcommand("contention", "Cost of a packet when cores share one table, or each has its own");
  contention->footer(
      "Measures every combination of the listed values on one core while the others do the same, in interleaved\n"
      "rounds and in thread CPU time. First it checks that all cores together count correctly. Ratios are to\n"
      "separate tables. A sample is disturbed if another core did not run during it. \"together\" is the share\n"
      "of samples in which all ran.");
  auto options = std::make_shared<ContentionOptions>();
  const auto list = [&](const char* name, auto& values, const char* help) {
    contention->add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  list("--cores", options->cores, "Number of cores that count at the same time");
  list("--flows", options->flows, "Distinct flows: 65536, 64Ki, 1M, ...");
  list("--zipf", options->zipf, "Skew: exponent of the flow popularity, 0 for uniform");
  list("--sharing", options->sharing,
       "same: all cores see all flows; split: each flow belongs to one core, as with RSS");
  contention->add_option("--epoch", options->epoch, "Packets of all cores between merges of separate tables")
      ->capture_default_str();
  add_bench_options(contention, options->common);
  contention->callback([options, &status] { status = run_contention(*options); });
}

}  // namespace parshall::cli
