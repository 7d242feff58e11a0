// SPDX-License-Identifier: Apache-2.0
#include "lab/parse_report.hpp"

#include <fmt/format.h>

#include "base/figures/batch_costs.hpp"
#include "base/figures/row_columns.hpp"

namespace parshall::lab {
namespace {

constexpr bool kCommon = true;
using Row = const ParseRow&;

constexpr auto kWhat = std::to_array<ColumnOf<ParseRow>>({
    {{"traffic", "traffic", 0, kCommon}, [](Row row) -> Cell { return std::string(row.traffic->name); }},
    {{"memory_bytes", "", 0, kCommon}, [](Row row) -> Cell { return std::uint64_t{row.memory_bytes}; }},
    {{"memory_mb", "MB of frames", 1, kCommon}, [](Row row) -> Cell { return megabytes(row.memory_bytes); }},
    {{"row", "reads"},
     [](Row row) -> Cell { return fmt::format("{}{}", row.access->name, row.prefetch ? ", prefetched" : ""); }},
    {{"reads", ""}, [](Row row) -> Cell { return std::string(row.access->name); }},
    {{"prefetch", ""},
     [](Row row) { return cell_if(row.access->touches_packets(), std::string(row.prefetch ? "on" : "off")); }},
});
constexpr auto kFigures = std::to_array<ColumnOf<ParseRow>>({
    {{"cycles", "cycles", 1}, [](Row row) -> Cell { return row.cost.median_ns * cycles_per_ns(); }},
});

/// Every one there is, in this order.
constexpr auto kColumns = columns_in_order(kWhat, kCostColumns<ParseRow>, kFigures, kSampleColumns<ParseRow>);

}  // namespace

std::span<const Column> parse_columns() noexcept {
  static const std::vector<Column> heads = heads_of<ParseRow>(kColumns);
  return heads;
}

Part parse_part(std::span<const ParseRow> rows) { return part_of<ParseRow>(kColumns, rows); }

}  // namespace parshall::lab
