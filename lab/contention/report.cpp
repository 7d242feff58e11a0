// SPDX-License-Identifier: Apache-2.0
#include "lab/contention/report.hpp"

#include <fmt/format.h>

#include "base/figures/batch_costs.hpp"
#include "base/figures/row_columns.hpp"
#include "lab/verdict.hpp"

namespace parshall::lab {
namespace {

constexpr auto kContentionWhat = std::to_array<ColumnOf<ContentionRow>>({
    {{"traffic", "traffic", 2, kCommon}, [](auto& row) -> Cell { return row.of.traffic; }},
    {{"flows", "flows", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.flows}; }},
    {{"zipf", "", 2, kCommon}, [](auto& row) -> Cell { return row.of.zipf; }},
    {{"sharing", "sharing", 0, kCommon},
     [](auto& row) -> Cell { return std::string(kSharingNames[static_cast<std::size_t>(row.of.sharing)]); }},
    {{"cores", "cores", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.cores}; }},
    {{"way", "way"}, [](auto& row) -> Cell { return std::string(row.way->name); }},
});
constexpr auto kContentionFigures = std::to_array<ColumnOf<ContentionRow>>({
    {{"cycles", ""}, [](auto& row) -> Cell { return row.cost.median_ns * cycles_per_ns(); }},
    {{"all_mpps", "Mpps of all", 1},
     [](auto& row) -> Cell { return 1e3 / row.cost.median_ns * static_cast<double>(row.of.cores); }},
});
constexpr auto kContentionMemory = std::to_array<ColumnOf<ContentionRow>>({
    {{"merge_ns", "merge ns"}, [](auto& row) { return cell_if(row.merge_ns.has_value(), row.merge_ns.value_or(0)); }},
    {{"lost_share", "lost", 4}, [](auto& row) -> Cell { return row.lost_share; }},
    {{"memory_bytes", ""}, [](auto& row) -> Cell { return std::uint64_t{row.memory_bytes}; }},
    {{"memory_mb", "MB", 1}, [](auto& row) -> Cell { return megabytes(row.memory_bytes); }},
    {{"together", "together"}, [](auto& row) { return cell_if(row.of.cores > 1, row.together); }},
});

/// Lists all columns in order.
constexpr auto kContentionColumns =
    columns_in_order(kContentionWhat, kCostColumns<ContentionRow>, kContentionFigures, kBatchColumns<ContentionRow>,
                     kContentionMemory, kSampleColumns<ContentionRow>);

}  // namespace

std::span<const Column> contention_columns() noexcept {
  static const std::vector<Column> heads = heads_of<ContentionRow>(kContentionColumns);
  return heads;
}

Part contention_part(std::span<const ContentionRow> rows) {
  return part_of<ContentionRow>(kContentionColumns, rows, verdict(rows));
}

std::string verdict(std::span<const ContentionRow> rows) {
  std::vector<Rival> rivals;
  for (const ContentionRow& row : rows)
    if (row.way->one_table && row.way->exact && row.way->apart) rivals.push_back({row.way->name, row.cost});
  return cheapest_of(rivals, "end with one table and lose no packet");
}

}  // namespace parshall::lab
