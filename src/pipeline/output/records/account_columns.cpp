// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/account_columns.hpp"

#include <fmt/format.h>

#include <random>
#include <utility>

namespace parshall {
namespace {

AccountColumn text_column(std::string name, std::string value, std::string help) {
  return {{.name = std::move(name),
           .type = kEnum16,
           .nullable = false,
           .help = std::move(help),
           .values = {std::move(value)}},
          Value::of_enumeration(0)};
}

AccountColumn count_column(std::string_view name, std::uint64_t value, std::string_view unit, std::string_view help) {
  return {{.name = std::string(name),
           .unit = std::string(unit),
           .type = kUint64,
           .nullable = false,
           .help = std::string(help)},
          Value::of_unsigned(value)};
}

AccountColumn time_column(std::string name, std::uint64_t ns, std::string help) {
  return {{.name = std::move(name), .unit = "ns", .type = kTime, .help = std::move(help)},
          ns == 0 ? Value() : Value::of_time(ns)};
}

/// Returns whether the part counts one of the possible fates of an offered packet.
bool is_of_packets(CounterPart part) noexcept {
  return part == CounterPart::device_lost || part == CounterPart::outcome || part == CounterPart::malformed ||
         part == CounterPart::share;
}

}  // namespace

std::string new_run() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::vector<AccountColumn> account_columns(const ReportSummary& summary, const OutputSummary& own,
                                           const ExportRun& run) {
  const Accounting& total = summary.total;
  std::vector<AccountColumn> columns = {
      text_column("probe", run.probe, "who exports"),
      text_column("run", run.run, "as in the files' names"),
      time_column("first_seen", summary.first_ns(), "smallest capture time"),
      time_column("last_seen", summary.last_ns(), "largest capture time"),
      count_column("offered", total.offered(), "packets", "all that came to the device"),
  };
  for (const CounterLine& line : Counters::kTable) {
    if (!is_of_packets(line.part)) continue;
    const auto known = total.known(line.id);
    columns.push_back({{.name = std::string(line.name),
                        .unit = std::string(line.unit),
                        .type = kUint64,
                        .nullable = line.may_be_absent,
                        .help = std::string(line.help)},
                       known ? Value::of_unsigned(*known) : Value()});
  }
  const std::uint64_t in_flows = total.counted() - total[Counter::kept_out_packets] - total[Counter::shed_packets];
  for (const AccountColumn& column : {
           count_column("counted_in_flows", in_flows, "packets",
                        "of those counted: of all records, this output's or not"),
           count_column("records_offered", own.offered.records, "records", "to this output"),
           count_column("packets_offered", own.offered.packets, "packets", "in these"),
           count_column("records_written", own.written.records, "records", "of this output"),
           count_column("packets_written", own.written.packets, "packets", "in these"),
           count_column("records_not_sent", own.dropped.records, "records",
                        "of this output, for want of room or of a place to write to"),
           count_column("packets_not_sent", own.dropped.packets, "packets", "in these"),
           count_column("export_sequences", run.records, "records",
                        "that the output got: they have the numbers below it"),
       })
    columns.push_back(column);
  columns.push_back(
      {{.name = "whole_run",
        .type = kBool,
        .nullable = false,
        .help = "whether the output was there all the time: then it was offered what was counted in flows"},
       Value::of_bool(own.whole_run)});
  columns.push_back({{.name = "packets_in_columns",
                      .type = kBool,
                      .nullable = false,
                      .help = "whether the chosen columns hold every packet of the records"},
                     Value::of_bool(own.packets_in_columns)});
  columns.push_back(
      {{.name = "balanced", .type = kBool, .nullable = false, .help = "whether every packet is somewhere"},
       Value::of_bool(total.balanced())});
  return columns;
}

}  // namespace parshall
