// SPDX-License-Identifier: Apache-2.0
#include "cli/messages.hpp"
#include "lab/commands/bench_run.hpp"
#include "lab/tables/report.hpp"

namespace parshall::cli {
namespace {

struct TablesOptions {
  BenchOptions common;
  std::string_view experiment;
  std::span<const lab::TableUnderTest> all;  ///< tables measured by default
  std::vector<std::string> tables, tasks{"count"}, beside{"none"}, pages{"2M"};
  std::vector<std::string> flows{"65536"};
  std::vector<double> zipf{0}, load{1};
  std::vector<std::size_t> key_bytes{16}, value_bytes{16}, cores{1}, batch{32};
  std::string file, traffic, epoch = "2M";
  OfferedOptions offered;
  double heavy_share = 0.001;
};

std::optional<Error> wrong_sweep(const lab::TableSweep& sweep) {
  const auto one_of = [](std::span<const std::size_t> sizes, std::size_t size) {
    return std::ranges::find(sizes, size) != sizes.end();
  };
  const auto in_words = [](std::span<const std::size_t> sizes) {
    return joined(sizes, [](std::size_t size) { return size; });
  };
  for (const double zipf : sweep.zipf)
    if (!(zipf >= 0 && zipf <= 5)) return Error{fmt::format("--zipf {}: an exponent from 0 (uniform) to 5", zipf)};
  for (const double load : sweep.load)
    if (!(load >= 0.01 && load <= 1024))
      return Error{fmt::format("--load {}: flows to the entries a table is made for, from 0.01 to 1024", load)};
  for (const std::size_t cores : sweep.cores)
    if (cores < 1 || cores > 256) return Error{fmt::format("--cores {}: from 1 to 256", cores)};
  for (const std::size_t batch : sweep.batch)
    if (batch < 1 || batch > 65536) return Error{fmt::format("--batch {}: from 1 to 65536 packets", batch)};
  for (const std::size_t value_bytes : sweep.value_bytes)
    for (const std::size_t key_bytes : sweep.key_bytes)
      for (const lab::Task task : sweep.tasks) {
        if (!one_of(lab::value_sizes(), value_bytes))
          return Error{fmt::format("--value-bytes {}: one of {}", value_bytes, in_words(lab::value_sizes()))};
        if (!one_of(lab::key_sizes(), key_bytes))
          return Error{fmt::format("--key-bytes {}: one of {}", key_bytes, in_words(lab::key_sizes()))};
        if (!lab::Shape{key_bytes, value_bytes, task}.supported())
          return Error{fmt::format("--key-bytes {} goes with --value-bytes 16{} alone", key_bytes,
                                   key_bytes == 8 ? "" : " and --task count")};
      }
  if (!(sweep.heavy_share > 0 && sweep.heavy_share < 1))
    return Error{fmt::format("--heavy {}: a share of the packets above 0 and below 1", sweep.heavy_share)};
  return std::nullopt;
}

/// Returns the sweep from all options except the traffic.
Result<lab::TableSweep> plan(const TablesOptions& options) {
  lab::TableSweep sweep{.tables = {},
                        .flows = {},
                        .zipf = options.zipf,
                        .key_bytes = options.key_bytes,
                        .value_bytes = options.value_bytes,
                        .load = options.load,
                        .tasks = {},
                        .cores = options.cores,
                        .batch = options.batch,
                        .rounds = options.common.rounds,
                        .seed = options.common.seed,
                        .heavy_share = options.heavy_share};
  const auto tables = choose(options.tables.empty() ? options.all : lab::tables_under_test(), options.tables, "table");
  if (!tables) return tables.error();
  sweep.tables = *tables;
  const auto beside = choose(lab::neighbours(), options.beside, "neighbour");
  if (!beside) return beside.error();
  sweep.beside = *beside;
  const auto tasks = choose_names<lab::Task>(lab::kTaskNames, options.tasks, "task");
  if (!tasks) return tasks.error();
  sweep.tasks = *tasks;
  const auto pages = choose_names<lab::Pages>(lab::kPagesNames, options.pages, "size of pages");
  if (!pages) return pages.error();
  sweep.pages = *pages;
  for (const std::string& text : options.flows) {
    const auto flows = count_of("--flows", text, lab::TableSweep::kMaxFlows);
    if (!flows) return flows.error();
    sweep.flows.push_back(*flows);
  }
  const auto epoch = count_of("--epoch", options.epoch, std::size_t{1} << 30);
  if (!epoch) return epoch.error();
  sweep.epoch_packets = *epoch;
  sweep.trace_packets = std::max(sweep.trace_packets, *epoch);
  const auto offered = offered_load(options.offered);
  if (!offered) return offered.error();
  sweep.offered = *offered;
  if (auto wrong = wrong_sweep(sweep)) return *std::move(wrong);
  return sweep;
}

/// Returns the capture or built-in traffic that was requested; nullopt if none was.
Result<std::optional<lab::Traffic>> open_traffic(const TablesOptions& options) {
  constexpr std::size_t kMostPackets = std::size_t{1} << 26;
  if (options.file.empty() && options.traffic.empty()) return std::optional<lab::Traffic>();
  auto traffic =
      options.file.empty() ? lab::traffic_of_spec(options.traffic) : lab::traffic_of_file(options.file, kMostPackets);
  if (!traffic) return traffic.error();
  if (!traffic->warning.empty()) say("bench", traffic->warning);
  return std::optional(*std::move(traffic));
}

int run_tables(const TablesOptions& options) {
  auto sweep = plan(options);
  if (!sweep) return wrong_usage(sweep.error());
  auto traffic = open_traffic(options);
  if (!traffic) {
    say("bench", traffic.error().message);
    return options.file.empty() ? kUsage : kFailed;
  }
  sweep->traffic = *std::move(traffic);
  return run_sweep(options.experiment, *sweep, lab::table_columns(), lab::combinations(*sweep), lab::measure_tables,
                   lab::table_part, options.common);
}

/// Adds an experiment that measures `all` by default.
void add_tables(Command bench, int& status, const char* experiment, const char* help,
                std::span<const lab::TableUnderTest> all) {
  Command tables = bench.add_subcommand(experiment, help);
  tables->footer(
      "Measures every combination of the listed values, in interleaved rounds and in thread CPU time, after a\n"
      "check that each table counts correctly. Ratios are to the first table. Cycles are those of the time\n"
      "stamp counter, per packet of a batch. Precision, recall and count error compare one epoch with exact\n"
      "counts.");
  auto options = std::make_shared<TablesOptions>();
  options->experiment = experiment;
  options->all = all;
  tables->add_option("--tables", options->tables, fmt::format("Names; the first is the reference (all {})", experiment))
      ->delimiter(',');
  auto file = tables->add_option("-r,--read", options->file, "Capture file whose flows are played (random traffic)");
  auto spec =
      tables->add_option("-g,--generate", options->traffic, "Built-in traffic whose flows are played, as in watch")
          ->excludes(file);
  const auto list = [&](const char* name, auto& values, const char* what) {
    return tables->add_option(name, values, what)->delimiter(',')->capture_default_str();
  };
  for (Option option : {list("--flows", options->flows, "Distinct flows: 65536, 64Ki, 1M, ..."),
                        list("--zipf", options->zipf, "Skew: exponent of the flow popularity, 0 for uniform")})
    option->excludes(file)->excludes(spec);
  list("--task", options->tasks, "count, heavy-hitter, superspreader, change");
  list("--key-bytes", options->key_bytes, "Bytes of a key: 8 (IPv4 source), 16 (IPv4 five-tuple), 40 (IPv6)");
  list("--value-bytes", options->value_bytes, "Bytes kept for a flow: 4, 8, ... 256");
  list("--load", options->load, "Load: flows per entry that a table is made for");
  list("--cores", options->cores, "Number of cores that do the same at the same time, each with its own table");
  list("--beside", options->beside, "Neighbour on another core: none, cache, memory, count-1MB, ... count-256MB");
  list("--batch", options->batch, "Packets per batch");
  list("--pages", options->pages, "Page size for tables that use huge pages: 2M, 4k");
  tables->add_option("--epoch", options->epoch, "Largest number of packets for the accuracy")->capture_default_str();
  tables->add_option("--heavy", options->heavy_share, "Smallest share of an epoch's packets of a heavy hitter")
      ->capture_default_str();
  add_offered_options(tables, options->offered);
  add_bench_options(tables, options->common);
  tables->callback([options, &status] { status = run_tables(*options); });
}

}  // namespace

void add_bench_tables(Command bench, int& status) {
  add_tables(bench, status, "tables", "Cost and accuracy of finding a flow and counting, by table",
             lab::tables_under_test());
  add_tables(bench, status, "sketches", "The same for sketches, which do not keep every flow",
             lab::sketches_under_test());
}

}  // namespace parshall::cli
