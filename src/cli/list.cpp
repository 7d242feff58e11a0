// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands.hpp"
#include "lab/contention.hpp"
#include "lab/tables.hpp"
#include "pipeline/report/columns.hpp"
#include "pipeline/report/sink.hpp"
#include "pipeline/tables.hpp"

namespace parshall::cli {
namespace {

void list_tables() {
  for (const TableEntry& table : table_registry())
    fmt::print("{:<12} {:<24} {:>4} bytes/flow  {}\n", table.name, table.exact ? "exact" : "fingerprint, nic-hash",
               table.memory_bytes(1 << 20) >> 20, table.help);
}

void list_hashes() {
#ifdef __AES__
  constexpr auto kInstructions = "AES instructions";
#else
  constexpr auto kInstructions = "64-bit multiplications, for want of AES instructions";
#endif
  fmt::print("keyed        64 bits of three rounds under secret random keys ({})\n", kInstructions);
  fmt::print("nic          the device's RSS hash (--identity nic-hash), mixed with a secret for the bucket\n");
}

void list_statistics_and_columns() {
  for (const StatisticListing& statistic : list_statistics(StatisticOptions{}))
    fmt::print("{:<22} {:<8} {:>5} bytes/flow  {:<9} {}\n", statistic.name, statistic.unit, statistic.bytes_per_flow,
               statistic.mergeable ? "mergeable" : "", statistic.help);
  for (const FlowColumnEntry& column : flow_column_registry())
    fmt::print("{:<22} {:<8} {:>5} bytes/flow  {:<9} {}\n", column.name, "", 0, "mergeable", column.help);
}

void list_sources() {
  fmt::print("-r FILE       pcap or pcapng, - for standard input\n");
  fmt::print("-i NAME       a kernel interface, through AF_PACKET or AF_XDP (--via)\n");
  fmt::print("-i ADDRESS    a PCI device bound to a DPDK driver, e.g. 0000:03:00.0\n");
  fmt::print("-i vdev:...   any DPDK virtual device, e.g. vdev:net_pcap0,rx_pcap=FILE\n");
  fmt::print("-g SPEC       built-in traffic, e.g. flows=65536,size=64,dist=zipf:1.1,protocol=mix,ipv6=0.1,seed=1\n");
}

void list_experiments() {
  fmt::print("parshall bench tables: cost of finding a flow and counting a packet, with\n");
  for (const lab::TableUnderTest& table : lab::tables_under_test()) fmt::print("  {:<21} {}\n", table.name, table.help);
  fmt::print("parshall bench contention: cost of a packet when several cores count, and\n");
  for (const lab::CountingWay& way : lab::counting_ways()) fmt::print("  {:<21} {}\n", way.name, way.help);
}

struct Topic {
  const char* name;
  void (*print)();
};
constexpr Topic kTopics[] = {
    {"tables", list_tables},
    {"hashes", list_hashes},
    {"statistics", list_statistics_and_columns},
    {"sources", list_sources},
    {"experiments", list_experiments},
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
