// SPDX-License-Identifier: Apache-2.0
#include "lab/receive/report.hpp"

#include <fmt/format.h>

#include "base/figures/batch_costs.hpp"
#include "base/figures/row_columns.hpp"

namespace parshall::lab {
namespace {

constexpr auto kReceiveWhat = std::to_array<ColumnOf<ReceiveRow>>({
    {{"cores", "cores", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.cores}; }},
    {{"burst", "burst", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.burst}; }},
    {{"cache", "cache", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.cache}; }},
    {{"arrivals", "arrivals", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.arrivals}; }},
    {{"buffers", "", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.buffers}; }},
    {{"queues", "queues", 0}, [](auto& row) -> Cell { return std::uint64_t{row.of.queues}; }},
    {{"pools", "pools"},
     [](auto& row) -> Cell { return std::string(kPoolsNames[static_cast<std::size_t>(row.of.pools)]); }},
});
constexpr auto kReceiveFigures = std::to_array<ColumnOf<ReceiveRow>>({
    {{"cycles", "cycles", 1}, [](auto& row) -> Cell { return row.cost.median_ns * cycles_per_ns(); }},
    {{"polling_cycles", "polling", 1}, [](auto& row) -> Cell { return row.polling_cycles; }},
    {{"pool_cycles", "get+put", 1}, [](auto& row) -> Cell { return row.pool_cycles; }},
    {{"polls", ""}, [](auto& row) -> Cell { return row.polls; }},
    {{"empty_polls", "empty polls", 3}, [](auto& row) -> Cell { return row.empty_polls; }},
    {{"all_mpps", "Mpps of all", 1},
     [](auto& row) -> Cell { return 1e3 / row.cost.median_ns * static_cast<double>(row.of.cores); }},
    {{"together", "together"}, [](auto& row) { return cell_if(row.of.cores > 1, row.together); }},
});

/// Lists all columns in order.
constexpr auto kReceiveColumns =
    columns_in_order(kReceiveWhat, kCostColumns<ReceiveRow>, kReceiveFigures, kSampleColumns<ReceiveRow>);

}  // namespace

std::span<const Column> receive_columns() noexcept {
  static const std::vector<Column> heads = heads_of<ReceiveRow>(kReceiveColumns);
  return heads;
}

Part receive_part(std::span<const ReceiveRow> rows) { return part_of<ReceiveRow>(kReceiveColumns, rows); }

}  // namespace parshall::lab
