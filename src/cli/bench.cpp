// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/parse.hpp"
#include "cli/commands.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "lab/table_report.hpp"
#include "pipeline/report/output.hpp"

namespace parshall::cli {
namespace {

struct TablesOptions {
  std::vector<std::string> tables;
  std::vector<std::string> flows{"65536"};
  std::vector<double> zipf{0};
  std::vector<std::size_t> value_bytes{16};
  int rounds = 15;
  std::uint64_t seed = 1;
  std::string format = "text";
  std::string output = "-";
};

template <class Range, class Name>
std::string joined(const Range& range, Name name) {
  std::string text;
  for (const auto& item : range) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(item));
  return text;
}

Result<lab::TableSweep> plan(const TablesOptions& options) {
  lab::TableSweep sweep{.tables = {},
                        .flows = {},
                        .zipf = options.zipf,
                        .value_bytes = options.value_bytes,
                        .rounds = options.rounds,
                        .seed = options.seed};
  for (const std::string& name : options.tables) {
    const auto found = std::ranges::find(lab::tables_under_test(), name, &lab::TableUnderTest::name);
    if (found == lab::tables_under_test().end())
      return Error{fmt::format("no table \"{}\"; there is: {}", name,
                               joined(lab::tables_under_test(), [](const auto& table) { return table.name; }))};
    sweep.tables.push_back(&*found);
  }
  if (options.tables.empty())
    for (const lab::TableUnderTest& table : lab::tables_under_test()) sweep.tables.push_back(&table);
  for (const std::string& text : options.flows) {
    const auto flows = parse_count(text);
    if (!flows || *flows == 0 || *flows > lab::TableSweep::kMaxFlows)
      return Error{fmt::format("--flows {}: from 1 to {} flows, for example 65536, 64Ki or 1M", text,
                               lab::TableSweep::kMaxFlows)};
    sweep.flows.push_back(*flows);
  }
  for (const double zipf : options.zipf)
    if (!(zipf >= 0 && zipf <= 5)) return Error{fmt::format("--zipf {}: an exponent from 0 (uniform) to 5", zipf)};
  for (const std::size_t bytes : options.value_bytes)
    if (std::ranges::find(lab::value_sizes(), bytes) == lab::value_sizes().end())
      return Error{fmt::format("--value-bytes {}: one of {}", bytes,
                               joined(lab::value_sizes(), [](std::size_t size) { return size; }))};
  return sweep;
}

int run_tables(const TablesOptions& options) {
  const auto sweep = plan(options);
  if (!sweep) {
    say("bench", sweep.error().message);
    return kUsage;
  }
  const auto format = std::ranges::find(lab::table_formats(), options.format, &lab::TableFormat::name);
  auto output = Output::open(options.output);
  if (!output) {
    say("bench", output.error().message);
    return kFailed;
  }
  catch_signals();
  Output& out = **output;
  out.write(format->head());
  out.flush();
  const std::size_t combinations = sweep->flows.size() * sweep->zipf.size() * sweep->value_bytes.size();
  std::size_t done = 0;
  const auto measured = lab::measure_tables(
      *sweep,
      [&](std::span<const lab::TableRow> rows) {
        out.write(format->rows(rows));
        out.flush();
        if (++done < combinations) say("bench", fmt::format("{} of {} combinations done", done, combinations));
      },
      [&] { return stop_asked() || out.error(); });
  if (!measured) say("bench", measured.error().message);
  if (out.error()) say("bench", out.error()->message);
  if (measured && !out.error() && *measured < combinations)
    say("bench", fmt::format("stopped after {} of {} combinations", *measured, combinations));
  return measured && !out.error() ? kDone : kFailed;
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  CLI::App* bench = app.add_subcommand("bench", "The lab: measure tables on this machine");
  bench->require_subcommand(1);
  CLI::App* tables = bench->add_subcommand("tables", "Cost of finding a flow and counting a packet, by table");
  tables->footer(
      "Every combination of --flows, --zipf and --value-bytes is measured: in interleaved rounds, in thread CPU time, "
      "after\nchecking that each table counts rightly. Ratios are to the first table. text and json describe the "
      "machine, csv does not.");
  auto options = std::make_shared<TablesOptions>();
  tables->add_option("--tables", options->tables, "Which, first the one to compare with (all)")->delimiter(',');
  tables->add_option("--flows", options->flows, "Distinct flows: 65536, 64Ki, 1M, ...")
      ->delimiter(',')
      ->capture_default_str();
  tables->add_option("--zipf", options->zipf, "Skew: exponent of the flow popularity, 0 for uniform")
      ->delimiter(',')
      ->capture_default_str();
  tables->add_option("--value-bytes", options->value_bytes, "Bytes kept for a flow: 4, 8, ... 256")
      ->delimiter(',')
      ->capture_default_str();
  tables->add_option("--rounds", options->rounds, "Samples of each table")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  tables->add_option("--seed", options->seed, "Of hash and traffic")->capture_default_str();
  std::vector<std::string> formats;
  for (const lab::TableFormat& format : lab::table_formats()) formats.emplace_back(format.name);
  tables->add_option("--format", options->format, "text, csv or json")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  tables->add_option("-o,--output", options->output, "File to write to, - for standard output")->capture_default_str();
  tables->callback([options, &status] { status = run_tables(*options); });
}

}  // namespace parshall::cli
