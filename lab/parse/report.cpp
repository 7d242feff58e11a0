// SPDX-License-Identifier: Apache-2.0
#include "lab/parse/report.hpp"

#include <fmt/format.h>

#include "base/figures/batch_costs.hpp"
#include "base/figures/row_columns.hpp"

namespace parshall::lab {
namespace {

constexpr auto kParseWhat = std::to_array<ColumnOf<ParseRow>>({
    {{"traffic", "traffic", 0, kCommon}, [](auto& row) -> Cell { return std::string(row.traffic->name); }},
    {{"memory_bytes", "", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.memory_bytes}; }},
    {{"memory_mb", "MB of frames", 1, kCommon}, [](auto& row) -> Cell { return megabytes(row.memory_bytes); }},
    {{"row", "reads"},
     [](auto& row) -> Cell { return fmt::format("{}{}", row.access->name, row.prefetch ? ", prefetched" : ""); }},
    {{"reads", ""}, [](auto& row) -> Cell { return std::string(row.access->name); }},
    {{"prefetch", ""},
     [](auto& row) { return cell_if(row.access->touches_packets(), std::string(row.prefetch ? "on" : "off")); }},
});
constexpr auto kParseFigures = std::to_array<ColumnOf<ParseRow>>({
    {{"cycles", "cycles", 1}, [](auto& row) -> Cell { return row.cost.median_ns * cycles_per_ns(); }},
});

/// Lists all columns in order.
constexpr auto kParseColumns =
    columns_in_order(kParseWhat, kCostColumns<ParseRow>, kParseFigures, kSampleColumns<ParseRow>);

}  // namespace

std::span<const Column> parse_columns() noexcept {
  static const std::vector<Column> heads = heads_of<ParseRow>(kParseColumns);
  return heads;
}

Part parse_part(std::span<const ParseRow> rows) { return part_of<ParseRow>(kParseColumns, rows); }

}  // namespace parshall::lab
