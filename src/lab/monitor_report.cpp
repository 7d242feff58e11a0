// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lab/batch_costs.hpp"
#include "lab/monitor_experiment.hpp"

namespace parshall::lab {
namespace {

struct MonitorColumn {
  Column column;
  Cell (*of)(const MonitorRow& row);
};

bool counts(const MonitorRow& row) noexcept { return row.monitor.depth == Depth::count; }
using Row = const MonitorRow&;
constexpr bool kCommon = true;

/// Every one there is, in this order.
constexpr MonitorColumn kColumns[] = {
    {{"traffic", "traffic", 2, kCommon}, [](Row row) -> Cell { return row.traffic; }},
    {{"monitor", "monitor"}, [](Row row) -> Cell { return row.monitor.name; }},
    {{"batch", "batch"}, [](Row row) -> Cell { return std::uint64_t{row.monitor.batch}; }},
    {{"ns", "ns"}, [](Row row) -> Cell { return row.cost.median_ns; }},
    {{"low_ns", "low"}, [](Row row) -> Cell { return row.cost.low_ns; }},
    {{"high_ns", "high"}, [](Row row) -> Cell { return row.cost.high_ns; }},
    {{"ratio", "ratio"}, [](Row row) -> Cell { return row.cost.ratio; }},
    {{"low_ratio", "low"}, [](Row row) -> Cell { return row.cost.ratio_low; }},
    {{"high_ratio", "high"}, [](Row row) -> Cell { return row.cost.ratio_high; }},
    {{"mpps", "Mpps", 1}, [](Row row) -> Cell { return 1e3 / row.cost.median_ns; }},
    {{"cycles", ""}, [](Row row) -> Cell { return row.cost.median_ns * cycles_per_ns(); }},
    {{"p50_cycles", "p50 cycles", 0}, [](Row row) -> Cell { return row.p50_cycles; }},
    {{"p99_cycles", "p99", 0}, [](Row row) -> Cell { return row.p99_cycles; }},
    {{"p999_cycles", "p99.9", 0}, [](Row row) -> Cell { return row.p999_cycles; }},
    {{"lossless_mpps", "lossless Mpps", 1}, [](Row row) -> Cell { return row.lossless_mpps; }},
    {{"memory_mb", "most MB", 1},
     [](Row row) { return cell_if(counts(row), static_cast<double>(row.memory_bytes) / 0x1p20); }},
    {{"flows", "flows"}, [](Row row) { return cell_if(counts(row), std::uint64_t{row.flows}); }},
    {{"evicted_share", "evicted", 4}, [](Row row) { return cell_if(row.evicted_share != 0, row.evicted_share); }},
    {{"expected_merges", "merges", 4}, [](Row row) { return cell_if(row.expected_merges != 0, row.expected_merges); }},
    {{"kept", ""}, [](Row row) -> Cell { return std::uint64_t{row.cost.kept}; }},
    {{"samples", ""}, [](Row row) -> Cell { return std::uint64_t{row.cost.samples}; }},
    {{"kept_of_samples", "samples"},
     [](Row row) -> Cell { return fmt::format("{}/{}", row.cost.kept, row.cost.samples); }},
};

}  // namespace

std::span<const Column> monitor_columns() noexcept {
  static const std::vector<Column> columns = [] {
    std::vector<Column> made;
    for (const MonitorColumn& column : kColumns) made.push_back(column.column);
    return made;
  }();
  return columns;
}

Part monitor_part(std::span<const MonitorRow> rows) {
  Part part;
  for (const MonitorRow& row : rows) {
    auto& cells = part.rows.emplace_back();
    for (const MonitorColumn& column : kColumns) cells.push_back(column.of(row));
  }
  return part;
}

}  // namespace parshall::lab
