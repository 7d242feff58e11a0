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
      text_column("probe", run.probe, "name of the exporting probe"),
      text_column("run", run.run, "identifier of the run, as in the names of files"),
      time_column("first_seen", summary.first_ns(), "smallest capture time"),
      time_column("last_seen", summary.last_ns(), "largest capture time"),
      count_column("offered", total.offered(), "packets", "packets that arrived at the device"),
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
  const std::uint64_t in_flows = total.counted() - total[Counter::kept_out_packets];
  for (const AccountColumn& column : {
           count_column("counted_in_flows", in_flows, "packets",
                        "counted packets that belong to flows, whether or not this output has their records"),
           count_column("records_offered", own.offered.records, "records", "records offered to this output"),
           count_column("packets_offered", own.offered.packets, "packets", "packets in these records"),
           count_column("records_written", own.written.records, "records", "records written by this output"),
           count_column("packets_written", own.written.packets, "packets", "packets in these records"),
           count_column("records_not_sent", own.dropped.records, "records",
                        "records dropped by this output because its queue was full or its target failed"),
           count_column("packets_not_sent", own.dropped.packets, "packets", "packets in these records"),
           count_column("export_sequences", run.records, "records",
                        "records that the output received; their sequence numbers are below this number"),
       })
    columns.push_back(column);
  columns.push_back(
      {{.name = "whole_run",
        .type = kBool,
        .nullable = false,
        .help =
            "true if the output existed during the whole run; then all packets counted in flows were offered to it"},
       Value::of_bool(own.whole_run)});
  columns.push_back({{.name = "packets_in_columns",
                      .type = kBool,
                      .nullable = false,
                      .help = "true if the chosen columns count every packet of the records"},
                     Value::of_bool(own.packets_in_columns)});
  columns.push_back(
      {{.name = "balanced", .type = kBool, .nullable = false, .help = "true if every packet is accounted for"},
       Value::of_bool(total.balanced())});
  return columns;
}

}  // namespace parshall
