// SPDX-License-Identifier: Apache-2.0
#include "lab/tables/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/figures/batch_costs.hpp"
#include "base/figures/row_columns.hpp"
#include "lab/verdict.hpp"

namespace parshall::lab {
namespace {

/// Returns false for a candidate that only makes keys and hashes.
bool counts_flows(const TableRow& row) noexcept { return row.memory_bytes != 0; }

Cell flows_share(const TableRow& row, std::size_t flows) {
  return cell_if(counts_flows(row) && row.accuracy.flows != 0,
                 static_cast<double>(flows) / static_cast<double>(row.accuracy.flows));
}

constexpr auto kTableWhat = std::to_array<ColumnOf<TableRow>>({
    {{"traffic", "traffic", 2, kCommon}, [](auto& row) -> Cell { return row.of.traffic; }},
    {{"flows", "flows", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.flows}; }},
    {{"zipf", "", 2, kCommon}, [](auto& row) -> Cell { return row.of.zipf; }},
    {{"key_bytes", "key bytes", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.shape.key_bytes}; }},
    {{"task", "task", 0, kCommon},
     [](auto& row) -> Cell { return std::string(kTaskNames[static_cast<std::size_t>(row.of.shape.task)]); }},
    {{"load", "load", 2, kCommon}, [](auto& row) -> Cell { return row.of.load; }},
    {{"cores", "cores", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.cores}; }},
    {{"beside", "beside", 0, kCommon}, [](auto& row) -> Cell { return std::string(row.of.beside); }},
    {{"footprint_mb", "", 0, kCommon},
     [](auto& row) {
       const auto bytes = std::ranges::find(neighbours(), row.of.beside, &Neighbour::name)->bytes;
       return cell_if(bytes.has_value(), megabytes(bytes.value_or(0)));
     }},
    {{"batch", "batch", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.batch}; }},
    {{"pages", "pages", 0, kCommon},
     [](auto& row) -> Cell { return std::string(kPagesNames[static_cast<std::size_t>(row.of.pages)]); }},
    {{"table", "table"}, [](auto& row) -> Cell { return std::string(row.table->name); }},
    {{"value_bytes", "value"},
     [](auto& row) {
       return cell_if(row.table->any_value && row.of.shape.task == Task::count,
                      std::uint64_t{row.of.shape.value_bytes});
     }},
});
constexpr auto kTableFigures = std::to_array<ColumnOf<TableRow>>({
    {{"cycles", ""}, [](auto& row) -> Cell { return row.cost.median_ns * cycles_per_ns(); }},
});
constexpr auto kTableMemory = std::to_array<ColumnOf<TableRow>>({
    {{"memory_bytes", ""}, [](auto& row) -> Cell { return std::uint64_t{row.memory_bytes}; }},
    {{"memory_mb", "max MB", 1}, [](auto& row) -> Cell { return megabytes(row.memory_bytes); }},
    {{"size", ""}, [](auto& row) -> Cell { return std::uint64_t{row.size}; }},
    {{"places", ""}, [](auto& row) { return cell_if(row.places != 0, std::uint64_t{row.places}); }},
    {{"occupied", "full"},
     [](auto& row) {
       return cell_if(row.places != 0, static_cast<double>(row.size) / static_cast<double>(row.places));
     }},
    {{"mean_probes", "probes"}, [](auto& row) { return cell_if(row.mean_probes != 0, row.mean_probes); }},
    {{"rejected_share", "rejected", 4}, [](auto& row) { return cell_if(row.rejected_share != 0, row.rejected_share); }},
    {{"precision", "precision", 3}, [](auto& row) { return cell_if(counts_flows(row), row.accuracy.precision()); }},
    {{"recall", "recall", 3}, [](auto& row) { return cell_if(counts_flows(row), row.accuracy.recall()); }},
    {{"reportable_flows", ""}, [](auto& row) -> Cell { return std::uint64_t{row.accuracy.positives}; }},
    {{"count_error", "count error", 4}, [](auto& row) { return cell_if(counts_flows(row), row.accuracy.count_error); }},
    {{"missing_share", ""}, [](auto& row) { return flows_share(row, row.accuracy.missing); }},
    {{"too_high_share", ""}, [](auto& row) { return flows_share(row, row.accuracy.too_high); }},
});

/// Lists all columns in order.
constexpr auto kTableColumns = columns_in_order(kTableWhat, kCostColumns<TableRow>, kTableFigures,
                                                kBatchColumns<TableRow>, kTableMemory, kSampleColumns<TableRow>);

}  // namespace

std::span<const Column> table_columns() noexcept {
  static const std::vector<Column> heads = heads_of<TableRow>(kTableColumns);
  return heads;
}

Part table_part(std::span<const TableRow> rows) { return part_of<TableRow>(kTableColumns, rows, verdict(rows)); }

std::string verdict(std::span<const TableRow> rows) {
  std::vector<Rival> exact;
  for (const TableRow& row : rows)
    if (row.table->whole_keys && row.rejected_share == 0) exact.push_back({row.table->name, row.cost});
  return cheapest_of(exact, "counted every flow exactly");
}

}  // namespace parshall::lab
