// SPDX-License-Identifier: Apache-2.0
#include "lab/parse_report.hpp"

#include <fmt/format.h>

#include "lab/batch_costs.hpp"

namespace parshall::lab {
namespace {

struct ParseColumn {
  Column column;
  Cell (*of)(const ParseRow& row);
};

constexpr bool kCommon = true;
using Row = const ParseRow&;

/// Every one there is, in this order.
constexpr ParseColumn kColumns[] = {
    {{"traffic", "traffic", 0, kCommon}, [](Row row) -> Cell { return std::string(row.traffic->name); }},
    {{"memory_bytes", "", 0, kCommon}, [](Row row) -> Cell { return std::uint64_t{row.memory_bytes}; }},
    {{"memory_mb", "MB of frames", 1, kCommon},
     [](Row row) -> Cell { return static_cast<double>(row.memory_bytes) / 1e6; }},
    {{"row", "reads"},
     [](Row row) -> Cell { return fmt::format("{}{}", row.access->name, row.prefetch ? ", prefetched" : ""); }},
    {{"reads", ""}, [](Row row) -> Cell { return std::string(row.access->name); }},
    {{"prefetch", ""},
     [](Row row) { return cell_if(row.access->touches_packets(), std::string(row.prefetch ? "on" : "off")); }},
    {{"ns", "ns"}, [](Row row) -> Cell { return row.cost.median_ns; }},
    {{"low_ns", "low"}, [](Row row) -> Cell { return row.cost.low_ns; }},
    {{"high_ns", "high"}, [](Row row) -> Cell { return row.cost.high_ns; }},
    {{"ratio", "ratio"}, [](Row row) -> Cell { return row.cost.ratio; }},
    {{"low_ratio", "low"}, [](Row row) -> Cell { return row.cost.ratio_low; }},
    {{"high_ratio", "high"}, [](Row row) -> Cell { return row.cost.ratio_high; }},
    {{"cycles", "cycles", 1}, [](Row row) -> Cell { return row.cost.median_ns * cycles_per_ns(); }},
    {{"kept", ""}, [](Row row) -> Cell { return std::uint64_t{row.cost.kept}; }},
    {{"samples", ""}, [](Row row) -> Cell { return std::uint64_t{row.cost.samples}; }},
    {{"kept_of_samples", "samples"},
     [](Row row) -> Cell { return fmt::format("{}/{}", row.cost.kept, row.cost.samples); }},
};

}  // namespace

std::span<const Column> parse_columns() noexcept {
  static const std::vector<Column> columns = [] {
    std::vector<Column> made;
    for (const ParseColumn& column : kColumns) made.push_back(column.column);
    return made;
  }();
  return columns;
}

Part parse_part(std::span<const ParseRow> rows) {
  Part part;
  for (const ParseRow& row : rows) {
    auto& cells = part.rows.emplace_back();
    for (const ParseColumn& column : kColumns) cells.push_back(column.of(row));
  }
  return part;
}

}  // namespace parshall::lab
