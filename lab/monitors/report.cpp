// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/figures/batch_costs.hpp"
#include "base/figures/row_columns.hpp"
#include "lab/monitors/experiment.hpp"

namespace parshall::lab {
namespace {

bool counts(const MonitorRow& row) noexcept { return row.monitor.depth == Depth::count; }

constexpr auto kMonitorWhat = std::to_array<ColumnOf<MonitorRow>>({
    {{"traffic", "traffic", 2, kCommon}, [](auto& row) -> Cell { return row.traffic; }},
    {{"monitor", "monitor"}, [](auto& row) -> Cell { return row.monitor.name; }},
    {{"batch", "batch"}, [](auto& row) -> Cell { return std::uint64_t{row.monitor.batch}; }},
});
constexpr auto kMonitorFigures = std::to_array<ColumnOf<MonitorRow>>({
    {{"mpps", "Mpps", 1}, [](auto& row) -> Cell { return 1e3 / row.cost.median_ns; }},
    {{"cycles", ""}, [](auto& row) -> Cell { return row.cost.median_ns * cycles_per_ns(); }},
});
constexpr auto kMonitorMemory = std::to_array<ColumnOf<MonitorRow>>({
    {{"memory_mb", "max MB", 1}, [](auto& row) { return cell_if(counts(row), megabytes(row.memory_bytes)); }},
    {{"flows", "flows"}, [](auto& row) { return cell_if(counts(row), std::uint64_t{row.flows}); }},
    {{"evicted_share", "evicted", 4}, [](auto& row) { return cell_if(row.evicted_share != 0, row.evicted_share); }},
    {{"expected_merges", "merges", 4},
     [](auto& row) { return cell_if(row.expected_merges != 0, row.expected_merges); }},
});

/// Lists all columns in order.
constexpr auto kMonitorColumns =
    columns_in_order(kMonitorWhat, kCostColumns<MonitorRow>, kMonitorFigures, kBatchColumns<MonitorRow>, kMonitorMemory,
                     kSampleColumns<MonitorRow>);

}  // namespace

std::span<const Column> monitor_columns() noexcept {
  static const std::vector<Column> heads = heads_of<MonitorRow>(kMonitorColumns);
  return heads;
}

Part monitor_part(std::span<const MonitorRow> rows) { return part_of<MonitorRow>(kMonitorColumns, rows); }

}  // namespace parshall::lab
