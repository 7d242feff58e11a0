// SPDX-License-Identifier: Apache-2.0
#include "engine/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/suggestion.hpp"
#include "engine/table_entry.hpp"
#include "pipeline/flow/bucketed_table.hpp"

namespace parshall {
namespace {

std::vector<TableEntry>& tables() {
  static std::vector<TableEntry> all{
      table_entry<ExactTable>("bucketed", true, 0, "two whole keys and their counters in each cache line"),
      table_entry<FingerprintTable>("bucketed", false, 32, "three 32-bit tags and their counters in each cache line"),
  };
  return all;
}

}  // namespace

std::span<const TableEntry> table_registry() noexcept { return tables(); }

void add_tables(std::span<const TableEntry> more) { tables().insert(tables().end(), more.begin(), more.end()); }

Result<const TableEntry*> find_table(std::string_view name, Identity identity) {
  const bool exact = identity == Identity::exact;
  const auto all = table_registry();
  const auto found =
      std::ranges::find_if(all, [&](const TableEntry& table) { return table.name == name && table.exact == exact; });
  if (found != all.end()) return &*found;
  std::vector<std::string> known;
  for (const TableEntry& table : all)
    if (table.exact == exact) known.emplace_back(table.name);
  return Error{fmt::format("no table \"{}\" keeps flows by {} identity{}", name,
                           exact ? "exact" : "fingerprint or nic-hash",
                           suggestion(name, known, "parshall list tables"))};
}

double expected_merges(const TableEntry& table, Identity identity, const HashFunction* hash, std::size_t workers,
                       const Counters& counts) {
  if (identity == Identity::exact) return 0;
  constexpr double kBucketsSearched = 2;  // the flow's home line and its neighbour
  // More workers do not separate more flows, since bits of the tag decide which worker a flow belongs to.
  const double apart = std::min(1.0, std::ldexp(1.0, Partition::kWithoutTag) / static_cast<double>(workers));
  const double space = std::ldexp(1.0, static_cast<int>(table.tag_bits)) *
                       static_cast<double>(counts[Counter::table_lines]) * apart / kBucketsSearched;
  double chance = 1 / space;
  if (hash != nullptr) chance += std::ldexp(1.0, -static_cast<int>(hash->bits));
  if (identity == Identity::nic_hash) chance = std::ldexp(1.0, -32);
  const auto live = static_cast<double>(counts[Counter::live_flows]),
             ended = static_cast<double>(counts[Counter::ended_records]);
  return live * (live / 2 + ended) * chance;
}

}  // namespace parshall
