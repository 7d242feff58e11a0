// SPDX-License-Identifier: Apache-2.0
#include "base/figures/row_columns.hpp"
#include "lab/states/experiment.hpp"

namespace parshall::lab {
namespace {

constexpr auto kStatesWhat = std::to_array<ColumnOf<StatesRow>>({
    {{"states", "states", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.states}; }},
    {{"flows", "flows", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.flows}; }},
    {{"window_packets", "packets a window", 0, kCommon}, [](auto& row) -> Cell { return row.window_packets; }},
    {{"way", "way"}, [](auto& row) -> Cell { return std::string(row.way->name); }},
});
constexpr auto kStatesFigures = std::to_array<ColumnOf<StatesRow>>({
    {{"window_us", "us a window", 1},
     [](auto& row) -> Cell { return row.cost.median_ns * static_cast<double>(row.window_packets) * 1e-3; }},
    {{"packets_reduced_share", "reduced"}, [](auto& row) -> Cell { return row.packets_reduced_share; }},
});
constexpr auto kStatesColumns =
    columns_in_order(kStatesWhat, kCostColumns<StatesRow>, kStatesFigures, kSampleColumns<StatesRow>);

}  // namespace

std::span<const Column> states_columns() noexcept {
  static const std::vector<Column> heads = heads_of<StatesRow>(kStatesColumns);
  return heads;
}

Part states_part(std::span<const StatesRow> rows) { return part_of<StatesRow>(kStatesColumns, rows); }

}  // namespace parshall::lab
