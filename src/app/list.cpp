// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands.hpp"
#include "classify/registry.hpp"
#include "parshall/presets/presets.hpp"
#include "parshall/sources/source_kind.hpp"
#include "pipeline/measure/names.hpp"
#include "pipeline/measure/tasks/fields.hpp"
#include "pipeline/measure/tasks/registry.hpp"
#include "pipeline/output/exporters.hpp"
#include "pipeline/output/groups/group_schema.hpp"
#include "pipeline/output/queue/sink.hpp"
#include "pipeline/output/records/schema.hpp"
#include "pipeline/output/stage_counts.hpp"
#include "traffic/traffic_spec.hpp"

namespace parshall::cli {
namespace {

void list_statistics() {
  for (const StatisticListing& statistic : parshall::list_statistics(StatisticOptions{}))
    fmt::print("{:<22} {:<8} {:>5} bytes/flow  {:<9} {}\n", statistic.name, statistic.unit, statistic.bytes_per_flow,
               statistic.mergeable ? "mergeable" : "", statistic.help);
  fmt::print("{:<22} {:<8} {:>5} bytes/flow  {:<9} {}\n", FlowClass::kName, "", 16, "",
             "application, by the flow's first packets or its port; needs a model of parshall train (--model FILE)");
  fmt::print("{:<22} {:<8} {:>5} bytes/flow  {:<9} {}\n", FlowClass::kBasisName, "", 0, "", FlowClass::kBasisHelp);
  fmt::print(
      "{:<22} {:<8} {:>5} {:<10}  {:<9} {}\n", "first_sizes[_<1-16>]", "", "", "", "",
      "ip_size_1, ip_size_2, ... of this number of first packets (4); also first_times (iat_1, ...) and first_flags");
  fmt::print("{:<22} {:<8} {:>5} bytes/flow  {:<9} {}\n", "first_payloads[_<1-8>]", "", 256, "mergeable",
             "payload_1, payload_2, ...: first bytes of this number of packets with payload (4); bytes for each");
  fmt::print("{:<22} {:<8} {:>5} bytes/flow  {:<9} {}\n", "flag_counts", "", 64, "mergeable",
             "tcp_flags_fin, tcp_flags_syn and the other counts of packets with a TCP flag");
  for (const auto& [direction, help] :
       {std::pair(Direction::reverse, "one of the above, of the packets that come back (--biflow)"),
        std::pair(Direction::both, "likewise, of the packets of both directions in their order")})
    fmt::print("{:<22} {:<8} {:>5} {:<10}  {:<9} {}\n", fmt::format("{}<statistic>", prefix_of(direction)), "", "", "",
               "", help);
  for (const ColumnEntry& column : counter_columns())
    fmt::print("{:<22} {:<8} {:>5} bytes/flow  {:<9} {}\n", column.name, "", 0, "mergeable", column.help);
}

/// Formats the IPFIX elements of a column, such as "8, 27" if there is another for IPv6 or for ns. An enterprise number
/// precedes an element that is not IANA's. A pattern of columns has its first number: "32473/100+".
std::string ipfix_text(const ColumnInfo& column) {
  const IpfixElement& ipfix = column.ipfix;
  if (ipfix.element == 0) return "-";
  std::string text = ipfix.pen == 0 ? "" : fmt::format("{}/", ipfix.pen);
  text += fmt::format("{}{}", ipfix.element, column.name.find('<') != column.name.npos ? "+" : "");
  return ipfix.other == 0 ? text : fmt::format("{}, {}", text, ipfix.other);
}

void list_columns() {
  fmt::print("{:<28} {:<10} {:<8} {:<9} {:<12} {}\n", "column", "unit", "type", "absent", "IPFIX", "what");
  for (const ColumnInfo& column : parshall::list_columns())
    fmt::print("{:<28} {:<10} {:<8} {:<9} {:<12} {}\n", column.name, column.unit, type_text(column.type),
               column.nullable ? "may be" : "never", ipfix_text(column), column.help);
}

void print_parameters(std::span<const Parameter> parameters) {
  for (const Parameter& parameter : parameters)
    fmt::print("    {:<12} {}{}\n", parameter.name, parameter.help,
               parameter.fallback.empty() ? "" : fmt::format(" [{}]", parameter.fallback));
}

void list_tasks() {
  for (const TaskEntry* const task : task_registry()) {
    fmt::print("{}: {}\n  each event: {}\n  error: {}\n", task->name, task->help, task->event, task->error);
    print_parameters(task->parameters);
  }
  fmt::print(
      "NAME=CONDITION, NAME:PARAMETER=VALUE,...:CONDITION: flows of a window for which a condition holds, such as\n");
  fmt::print("  'big=wire_bytes > 1e6' or 'lossy:window=10s:tcp_retransmissions > 10 and rtt_mean_ms > 200'\n");
  fmt::print("  each event: flow, packets, wire_bytes and the fields of the condition (parshall list fields)\n");
  fmt::print("  error: exact\n");
  fmt::print("all:\n");
  print_parameters(common_parameters());
}

/// Prints each preset as a file for --config.
void list_presets() {
  for (const Preset& preset : presets()) fmt::print("{}{}", &preset == presets().data() ? "" : "\n", preset.text);
}

void list_fields() {
  for (const FlowField& field : flow_fields()) fmt::print("{:<28} {}\n", field.name, field.help);
}

void list_sources() {
  for (const SourceKind* const kind : source_kinds())
    if (kind->help != nullptr) fmt::print("{:<13} {}\n", fmt::format("{} {}", kind->option, kind->value), kind->help());
}

void list_traffic() {
  for (const TrafficSetting& setting : traffic_settings())
    fmt::print("{:<10} {:<55} {}\n", setting.name, setting.values, setting.help);
}

void list_models() {
  for (const ModelKind& kind : model_kinds()) fmt::print("{:<12} {}\n", kind.name, kind.help);
}

/// Name, unit, when it can be read, help.
void list_counters() {
  constexpr auto kLine = "{:<24} {:<8} {:<12} {}{}\n";
  for (const CounterLine& line : Counters::kTable)
    fmt::print(kLine, line.name, line.unit, line.by == CountedBy::walk ? "in reports" : "at any time", line.help,
               line.may_be_absent ? "; absent where the device cannot tell" : "");
  fmt::print("of each class:\n");
  for (const ClassCounterLine& line : ClassCounts::kTable)
    fmt::print(kLine, line.name, line.unit, "in reports", line.help, "");
}

void list_formats() {
  for (const SinkEntry& sink : sink_registry()) fmt::print("{:<8} {}\n", sink.name, sink.help);
}

/// Lists the groupings, and the columns that any of them has.
void list_groups() {
  for (const Grouping& grouping : groupings()) {
    std::vector<std::string_view> names;
    for (const GroupKeyColumn& column : grouping.columns) names.push_back(column.name);
    fmt::print("{:<13} {} (columns {}, ...)\n", grouping.names.one, grouping.help, fmt::join(names, ", "));
  }
  fmt::print("columns:\n");
  for (const ColumnInfo& column : GroupSchema::common_columns()) fmt::print("{:<13} {}\n", column.name, column.help);
}

void list_exporters() {
  for (const ExporterEntry& entry : exporter_registry()) fmt::print("{:<10} {}\n", entry.name, entry.help);
  fmt::print("{:<10} {}\n", "prometheus",
             "counters, accounts of outputs and events of tasks, at http://HOST:PORT/metrics: prometheus:HOST:PORT");
}

}  // namespace

std::vector<Topic> monitor_topics() {
  return {{"statistics", "columns that are measured per flow: --columns +NAME", list_statistics},
          {"columns", "all columns of reports and records: --columns", list_columns},
          {"tasks", "questions that every window answers: --tasks, --task", list_tasks},
          {"presets", "tasks with thresholds for a kind of link: --preset, or to copy for --config", list_presets},
          {"fields", "fields that conditions of tasks and states compare", list_fields},
          {"sources", "sources of packets: -r, -i, -g", list_sources},
          {"traffic", "settings of built-in traffic: -g", list_traffic},
          {"models", "kinds of models that train can make", list_models},
          {"formats", "formats of reports: --format", list_formats},
          {"groups", "ways to add flows up, and their columns: --by", list_groups},
          {"counters", "counters of packets in each report", list_counters},
          {"exporters", "kinds of outputs of records, events and alarms: --export", list_exporters}};
}

}  // namespace parshall::cli
