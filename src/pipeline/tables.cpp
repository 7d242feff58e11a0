// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/flow/bucketed_table.hpp"
#include "pipeline/flow/map_table.hpp"
#include "pipeline/flow/maps/registry.hpp"
#include "pipeline/flow_monitor.hpp"

namespace parshall {
namespace {

template <FlowTable Table>
std::unique_ptr<Monitor> make(const MonitorOptions& options) {
  return std::make_unique<FlowMonitor<Table>>(options);
}

template <FlowTable Table>
constexpr TableEntry entry(std::string_view name, bool exact, unsigned tag_bits, std::string_view help) {
  return {name, exact, tag_bits, help, make<Table>, Table::memory_bytes, Table::slots_for};
}

constexpr TableEntry kBucketed[] = {
    entry<ExactTable>("bucketed", true, 0, "two whole keys and their counters in each cache line"),
    entry<FingerprintTable>("bucketed", false, 32, "three 32-bit tags and their counters in each cache line"),
};

/// Those, and a table over each map.
constexpr auto kTables = [] {
  constexpr auto kMaps = Maps::each([]<NamedMap Named>() {
    return entry<MapTable<typename Named::template Map<HashedKey<FlowKey>, FlowValue, KeptHash>>>(Named::kName, true, 0,
                                                                                                  Named::kHelp);
  });
  std::array<TableEntry, std::size(kBucketed) + kMaps.size()> all{};
  std::ranges::copy(kMaps, std::ranges::copy(kBucketed, all.begin()).out);
  return all;
}();

}  // namespace

std::span<const TableEntry> table_registry() noexcept { return kTables; }

Result<const TableEntry*> find_table(std::string_view name, Identity identity) {
  const bool exact = identity == Identity::exact;
  const auto found = std::ranges::find_if(
      kTables, [&](const TableEntry& table) { return table.name == name && table.exact == exact; });
  if (found != std::end(kTables)) return &*found;
  std::string known;
  for (const TableEntry& table : kTables)
    if (table.exact == exact) known += fmt::format("{}{}", known.empty() ? "" : ", ", table.name);
  return Error{fmt::format("no table \"{}\" keeps flows by {} identity; there is: {}", name,
                           exact ? "exact" : "fingerprint or nic-hash", known)};
}

double expected_merges(const TableEntry& table, Identity identity, const HashFunction* hash, std::size_t workers,
                       const MonitorCounts& counts) {
  if (identity == Identity::exact) return 0;
  constexpr double kBucketsSearched = 2;  // a flow's home line and its neighbour
  // More workers than that tell no more flows apart: bits of the tag say which one a flow belongs to.
  const double apart = std::min(1.0, std::ldexp(1.0, Share::kWithoutTag) / static_cast<double>(workers));
  const double space = std::ldexp(1.0, static_cast<int>(table.tag_bits)) * static_cast<double>(counts.buckets) * apart /
                       kBucketsSearched;
  double chance = 1 / space;
  if (hash != nullptr) chance += std::ldexp(1.0, -static_cast<int>(hash->bits));
  if (identity == Identity::nic_hash) chance = std::ldexp(1.0, -32);
  const auto live = static_cast<double>(counts.live_flows), ended = static_cast<double>(counts.ended_records);
  return live * (live / 2 + ended) * chance;
}

}  // namespace parshall
