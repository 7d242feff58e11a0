// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/figures/row_columns.hpp"
#include "lab/overload/experiment.hpp"

namespace parshall::lab {
namespace {

constexpr auto kOverloadColumns = std::to_array<ColumnOf<OverloadRow>>({
    {{"states", "states", 0, kCommon},
     [](auto& row) -> Cell { return std::string(row.cell.graph == OverloadGraph::chain ? "chain" : "tree"); }},
    {{"rate", "rate", 0, kCommon},
     [](auto& row) -> Cell { return std::string(row.cell.swings ? "swing" : "constant"); }},
    {{"load", "load", 1, kCommon}, [](auto& row) -> Cell { return row.cell.load; }},
    {{"noise", "noise", 2, kCommon}, [](auto& row) -> Cell { return row.cell.noise; }},
    {{"jitter", "jitter", 2, kCommon}, [](auto& row) -> Cell { return row.cell.jitter; }},
    {{"flows", "flows", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.cell.flows}; }},
    {{"price_error", "price", 1, kCommon}, [](auto& row) -> Cell { return row.cell.price_error; }},
    {{"load_1_pps", "", 0}, [](auto& row) -> Cell { return row.load_1_pps; }},
    {{"policy", "policy"}, [](auto& row) -> Cell { return std::string(row.policy->name); }},
    {{"by_flows", "by flows"}, [](auto& row) -> Cell { return row.by_flows(); }},
    {{"worst_by_flows", "worst"}, [](auto& row) -> Cell { return row.worst_by_flows; }},
    {{"by_count", "by count"}, [](auto& row) -> Cell { return row.by_count(); }},
    {{"worst_by_count", "worst"}, [](auto& row) -> Cell { return row.worst_by_count; }},
    {{"bound_by_flows", "most by flows"}, [](auto& row) -> Cell { return row.bound_by_flows; }},
    {{"bound_by_count", "most by count"}, [](auto& row) -> Cell { return row.bound_by_count; }},
    {{"lost_share", "lost", 4}, [](auto& row) -> Cell { return row.mean.lost_share; }},
    {{"heavy_hitters_by_flows", "HH"}, [](auto& row) -> Cell { return row.mean.by_flows[0]; }},
    {{"retransmissions_by_flows", "RTX"}, [](auto& row) -> Cell { return row.mean.by_flows[1]; }},
    {{"bursty_by_flows", "BURSTY"}, [](auto& row) -> Cell { return row.mean.by_flows[2]; }},
    {{"latency_change_by_flows", "LATENCY"}, [](auto& row) -> Cell { return row.mean.by_flows[3]; }},
    {{"retransmissions_by_count", "RTX each"}, [](auto& row) -> Cell { return row.mean.by_count[1]; }},
    {{"latency_change_by_count", "LATENCY each"}, [](auto& row) -> Cell { return row.mean.by_count[3]; }},
});

}  // namespace

std::span<const Column> overload_columns() noexcept {
  static const std::vector<Column> heads = heads_of<OverloadRow>(kOverloadColumns);
  return heads;
}

Part overload_part(std::span<const OverloadRow> rows) {
  Part part = part_of<OverloadRow>(kOverloadColumns, rows);
  for (const OverloadRow& row : rows.subspan(1))
    part.verdict += fmt::format("{}{} {} no adaptation", part.verdict.empty() ? "" : ", ", row.policy->name,
                                is_no_worse(row, rows.front()) ? "no worse than" : "worse than");
  return part;
}

}  // namespace parshall::lab
