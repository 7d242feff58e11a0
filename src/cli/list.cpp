// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "classify/registry.hpp"
#include "cli/commands.hpp"
#include "generate/traffic_spec.hpp"
#include "lab/classify_shape.hpp"
#include "lab/contention.hpp"
#include "lab/header_access.hpp"
#include "lab/model_experiment.hpp"
#include "lab/tables.hpp"
#include "pipeline/capture/compressed/formats.hpp"
#include "pipeline/flow/hashes/registry.hpp"
#include "pipeline/measure/tasks/fields.hpp"
#include "pipeline/measure/tasks/registry.hpp"
#include "pipeline/report/columns.hpp"
#include "pipeline/report/sink.hpp"
#include "pipeline/tables.hpp"
#include "tester/device/scenario.hpp"
#include "tester/search/search_goal.hpp"

namespace parshall::cli {
namespace {

void list_tables() {
  for (const TableEntry& table : table_registry())
    fmt::print("{:<12} {:<24} {:>4} bytes/flow  {}\n", table.name, table.exact ? "exact" : "fingerprint, nic-hash",
               table.memory_bytes(1 << 20) >> 20, table.help);
}

void list_hashes() {
  for (const HashFunction& hash : hash_registry())
    fmt::print("{:<14} {} bits  {:<5}  {:<16}  {}{}{}\n", hash.name, hash.bits, hash.keyed ? "keyed" : "",
               hash.takes(HashInput::five_tuple) ? "5-tuple" : "addresses, ports", hash.help,
               &hash == &default_hash() ? " (the default)" : "", hash.available() ? "" : " (not here)");
  fmt::print("{:<14} {} bits  {:<5}  {:<16}  {}\n", "nic", 32, "", "the device's",
             "the device's RSS hash: --identity nic-hash");
}

void list_statistics_and_columns() {
  for (const StatisticListing& statistic : list_statistics(StatisticOptions{}))
    fmt::print("{:<22} {:<8} {:>5} bytes/flow  {:<9} {}\n", statistic.name, statistic.unit, statistic.bytes_per_flow,
               statistic.mergeable ? "mergeable" : "", statistic.help);
  fmt::print("{:<22} {:<8} {:>5} bytes/flow  {:<9} {}\n", FlowClass::kName, "", 16, "",
             "application, by the flow's first packets: needs a model of parshall train (--model FILE)");
  fmt::print(
      "{:<22} {:<8} {:>5} {:<10}  {:<9} {}\n", "first_sizes[_<1-16>]", "", "", "", "",
      "ip_size_1, ip_size_2, ... of so many first packets (4); likewise first_times (iat_1, ...) and first_flags");
  for (const FlowColumnEntry& column : flow_column_registry())
    fmt::print("{:<22} {:<8} {:>5} bytes/flow  {:<9} {}\n", column.name, "", 0, "mergeable", column.help);
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
      "NAME=CONDITION, NAME:PARAMETER=VALUE,...:CONDITION: flows of a window that a condition holds for, such as\n");
  fmt::print("  'big=wire_bytes > 1e6' or 'lossy:window=10s:tcp_retransmissions > 10 and rtt_mean_ms > 200'\n");
  fmt::print("  each event: flow; packets, wire_bytes and what the condition names (parshall list fields)\n");
  fmt::print("  error: exact\n");
  fmt::print("all:\n");
  print_parameters(common_parameters());
}

void list_fields() {
  for (const FlowField& field : flow_fields()) fmt::print("{:<28} {}\n", field.name, field.help);
}

void list_sources() {
  std::string compressions;
  for (const CompressedFormat& format : compressed_formats())
    compressions += fmt::format("{}{}", compressions.empty() ? "" : ", ", format.name);
  fmt::print("-r FILE       pcap, pcapng or ERF, - for standard input; also compressed ({})\n", compressions);
  fmt::print("-i NAME       a kernel interface, through AF_PACKET or AF_XDP (--via)\n");
  fmt::print("-i ADDRESS    a PCI device bound to a DPDK driver, e.g. 0000:03:00.0\n");
  fmt::print("-i vdev:...   any DPDK virtual device, e.g. vdev:net_pcap0,rx_pcap=FILE\n");
  fmt::print("-g SPEC       built-in traffic, e.g. flows=65536,size=64,dist=zipf:1.1,protocol=mix,ipv6=0.1,seed=1\n");
}

void list_traffic() {
  for (const TrafficSetting& setting : traffic_settings())
    fmt::print("{:<10} {:<55} {}\n", setting.name, setting.values, setting.help);
}

void list_goals() {
  for (const tester::SearchGoal& goal : tester::preset_goals())
    fmt::print("{:<8} loss={:g}%,exceed={:g}%,trial={:g}s,sum={:g}s,width={:g}%,initial={:g}s\n", goal.name,
               100 * goal.loss_ratio, 100 * goal.exceed_ratio, goal.final_trial_s, goal.duration_sum_s,
               100 * goal.width, goal.initial_trial_s);
  fmt::print("others: parshall test search --goal name=NAME,loss=..., with any of these\n");
}

void list_experiments() {
  fmt::print("parshall bench tables: cost of finding a flow and counting a packet, with\n");
  for (const lab::TableUnderTest& table : lab::tables_under_test()) fmt::print("  {:<22} {}\n", table.name, table.help);
  fmt::print("parshall bench sketches: the same, with those of them that are sketches\n");
  fmt::print("parshall bench hashes: cost and quality of hashing a key, with those of parshall list hashes\n");
  fmt::print("parshall bench parse: cost of getting at a packet's identity, reading\n");
  for (const lab::HeaderAccess& access : lab::header_accesses()) fmt::print("  {:<22} {}\n", access.name, access.help);
  fmt::print("parshall bench receive: cost of queues and packet-buffer pools of DPDK, without a device\n");
  fmt::print("parshall bench models: throughput of the whole monitor, by threads\n");
  for (const lab::NamedModel& model : lab::thread_models()) fmt::print("  {:<22} {}\n", model.name, model.help);
  fmt::print("parshall bench classify: flows classified a second, by queues and threads\n");
  for (const lab::ClassifyShape& shape : lab::classify_shapes()) fmt::print("  {:<22} {}\n", shape.name, shape.help);
  fmt::print("parshall bench pipeline: cost of a packet step by step: polled, decoded, counted, measured\n");
  fmt::print("parshall bench batch: cost of a packet by how many are taken at a time\n");
  fmt::print("parshall bench advise: which table, sizes and batch to use for some traffic\n");
  fmt::print("parshall bench heavy-hitters: one task by keeping every flow, and by sketches\n");
  fmt::print("parshall bench adaptive: flows that give way where time is short\n");
  fmt::print("parshall bench contention: cost of a packet when several cores count, and\n");
  for (const lab::CountingWay& way : lab::counting_ways()) fmt::print("  {:<22} {}\n", way.name, way.help);
}

struct Topic {
  const char* name;
  void (*print)();
};
constexpr Topic kTopics[] = {
    {"tables", list_tables},
    {"hashes", list_hashes},
    {"statistics", list_statistics_and_columns},
    {"tasks", list_tasks},
    {"fields", list_fields},
    {"sources", list_sources},
    {"scenarios",
     [] {
       for (const tester::ScenarioEntry& entry : tester::scenario_registry())
         fmt::print("{:<10} {}{}\n", entry.name, entry.help,
                    entry.settings.empty() ? "" : fmt::format(": {}:{}", entry.name, entry.settings));
     }},
    {"goals", list_goals},
    {"traffic", list_traffic},
    {"experiments", list_experiments},
    {"models",
     [] {
       for (const ModelKind& kind : model_kinds()) fmt::print("{:<12} {}\n", kind.name, kind.help);
     }},
    {"formats",
     [] {
       for (const SinkEntry& sink : sink_registry()) fmt::print("{:<8} {}\n", sink.name, sink.help);
     }},
};

}  // namespace

void add_list(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("list", "Show what there is to choose from");
  auto topic = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Topic& known : kTopics) names.emplace_back(known.name);
  command->add_option("topic", *topic, "What to list")->required()->check(CLI::IsMember(names));
  command->callback([topic] {
    for (const Topic& known : kTopics)
      if (*topic == known.name) known.print();
  });
}

}  // namespace parshall::cli
