// SPDX-License-Identifier: Apache-2.0
#include "lab/table_report.hpp"

#include <fmt/format.h>

#include "lab/batch_costs.hpp"
#include "lab/verdict.hpp"

namespace parshall::lab {
namespace {

struct TableColumn {
  Column column;
  Cell (*of)(const TableRow& row);
};

/// False for what only makes keys and hashes.
bool counts_flows(const TableRow& row) noexcept { return row.memory_bytes != 0; }

Cell flows_share(const TableRow& row, std::size_t flows) {
  return cell_if(counts_flows(row) && row.accuracy.flows != 0,
                 static_cast<double>(flows) / static_cast<double>(row.accuracy.flows));
}

constexpr bool kCommon = true;
using Row = const TableRow&;

/// Every one there is, in this order.
constexpr TableColumn kColumns[] = {
    {{"traffic", "traffic", 2, kCommon}, [](Row row) -> Cell { return row.of.traffic; }},
    {{"flows", "flows", 0, kCommon}, [](Row row) -> Cell { return std::uint64_t{row.of.flows}; }},
    {{"zipf", "", 2, kCommon}, [](Row row) -> Cell { return row.of.zipf; }},
    {{"key_bytes", "key bytes", 0, kCommon}, [](Row row) -> Cell { return std::uint64_t{row.of.shape.key_bytes}; }},
    {{"task", "task", 0, kCommon},
     [](Row row) -> Cell { return std::string(kTaskNames[static_cast<std::size_t>(row.of.shape.task)]); }},
    {{"load", "load", 2, kCommon}, [](Row row) -> Cell { return row.of.load; }},
    {{"cores", "cores", 0, kCommon}, [](Row row) -> Cell { return std::uint64_t{row.of.cores}; }},
    {{"beside", "beside", 0, kCommon}, [](Row row) -> Cell { return std::string(row.of.beside); }},
    {{"batch", "batch", 0, kCommon}, [](Row row) -> Cell { return std::uint64_t{row.of.batch}; }},
    {{"table", "table"}, [](Row row) -> Cell { return std::string(row.table->name); }},
    {{"value_bytes", "value"},
     [](Row row) {
       return cell_if(row.table->any_value && row.of.shape.task == Task::count,
                      std::uint64_t{row.of.shape.value_bytes});
     }},
    {{"ns", "ns"}, [](Row row) -> Cell { return row.cost.median_ns; }},
    {{"low_ns", "low"}, [](Row row) -> Cell { return row.cost.low_ns; }},
    {{"high_ns", "high"}, [](Row row) -> Cell { return row.cost.high_ns; }},
    {{"ratio", "ratio"}, [](Row row) -> Cell { return row.cost.ratio; }},
    {{"low_ratio", "low"}, [](Row row) -> Cell { return row.cost.ratio_low; }},
    {{"high_ratio", "high"}, [](Row row) -> Cell { return row.cost.ratio_high; }},
    {{"cycles", ""}, [](Row row) -> Cell { return row.cost.median_ns * cycles_per_ns(); }},
    {{"p50_cycles", "p50 cycles", 0}, [](Row row) -> Cell { return row.p50_cycles; }},
    {{"p99_cycles", "p99", 0}, [](Row row) -> Cell { return row.p99_cycles; }},
    {{"p999_cycles", "p99.9", 0}, [](Row row) -> Cell { return row.p999_cycles; }},
    {{"lossless_mpps", "lossless Mpps", 1}, [](Row row) -> Cell { return row.lossless_mpps; }},
    {{"memory_bytes", ""}, [](Row row) -> Cell { return std::uint64_t{row.memory_bytes}; }},
    {{"memory_mb", "most MB", 1}, [](Row row) -> Cell { return static_cast<double>(row.memory_bytes) / 0x1p20; }},
    {{"size", ""}, [](Row row) -> Cell { return std::uint64_t{row.size}; }},
    {{"places", ""}, [](Row row) { return cell_if(row.places != 0, std::uint64_t{row.places}); }},
    {{"occupied", "full"},
     [](Row row) { return cell_if(row.places != 0, static_cast<double>(row.size) / static_cast<double>(row.places)); }},
    {{"mean_probes", "probes"}, [](Row row) { return cell_if(row.mean_probes != 0, row.mean_probes); }},
    {{"rejected_share", "rejected", 4}, [](Row row) { return cell_if(row.rejected_share != 0, row.rejected_share); }},
    {{"precision", "precision", 3}, [](Row row) { return cell_if(counts_flows(row), row.accuracy.precision()); }},
    {{"recall", "recall", 3}, [](Row row) { return cell_if(counts_flows(row), row.accuracy.recall()); }},
    {{"reportable_flows", ""}, [](Row row) -> Cell { return std::uint64_t{row.accuracy.positives}; }},
    {{"count_error", "count error", 4}, [](Row row) { return cell_if(counts_flows(row), row.accuracy.count_error); }},
    {{"missing_share", ""}, [](Row row) { return flows_share(row, row.accuracy.missing); }},
    {{"too_high_share", ""}, [](Row row) { return flows_share(row, row.accuracy.too_high); }},
    {{"kept", ""}, [](Row row) -> Cell { return std::uint64_t{row.cost.kept}; }},
    {{"samples", ""}, [](Row row) -> Cell { return std::uint64_t{row.cost.samples}; }},
    {{"kept_of_samples", "samples"},
     [](Row row) -> Cell { return fmt::format("{}/{}", row.cost.kept, row.cost.samples); }},
};

}  // namespace

std::span<const Column> table_columns() noexcept {
  static const std::vector<Column> columns = [] {
    std::vector<Column> made;
    for (const TableColumn& column : kColumns) made.push_back(column.column);
    return made;
  }();
  return columns;
}

Part table_part(std::span<const TableRow> rows) {
  Part part{.rows = {}, .verdict = verdict(rows)};
  for (const TableRow& row : rows) {
    auto& cells = part.rows.emplace_back();
    for (const TableColumn& column : kColumns) cells.push_back(column.of(row));
  }
  return part;
}

std::string verdict(std::span<const TableRow> rows) {
  std::vector<Rival> exact;
  for (const TableRow& row : rows)
    if (row.table->whole_keys && row.rejected_share == 0) exact.push_back({row.table->name, row.cost});
  return cheapest_of(exact, "counted every flow exactly");
}

}  // namespace parshall::lab
