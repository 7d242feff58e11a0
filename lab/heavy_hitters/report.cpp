// SPDX-License-Identifier: Apache-2.0
#include "base/figures/row_columns.hpp"
#include "lab/heavy_hitters/experiment.hpp"

namespace parshall::lab {
namespace {

constexpr auto kHeavyHittersWhat = std::to_array<ColumnOf<HeavyHittersRow>>({
    {{"traffic", "traffic", 2, kCommon}, [](auto& row) -> Cell { return row.traffic; }},
    {{"window_ms", "window ms", 0, kCommon},
     [](auto& row) -> Cell { return static_cast<double>(row.window_ns) * 1e-6; }},
    {{"way", "way"}, [](auto& row) -> Cell { return std::string(row.way->name); }},
    {{"one_in", "one in"}, [](auto& row) { return cell_if(row.one_in != 1, std::uint64_t{row.one_in}); }},
    {{"width", "width"}, [](auto& row) { return cell_if(row.width != 0, std::uint64_t{row.width}); }},
});
constexpr auto kHeavyHittersFigures = std::to_array<ColumnOf<HeavyHittersRow>>({
    {{"recall", "recall", 3}, [](auto& row) { return cell_if(row.windows != 0, row.recall); }},
    {{"precision", "precision", 3}, [](auto& row) { return cell_if(row.windows != 0, row.precision); }},
    {{"mpps", "Mpps", 1}, [](auto& row) -> Cell { return 1e3 / row.cost.median_ns; }},
    {{"memory_mb", "MB", 1}, [](auto& row) -> Cell { return megabytes(row.memory_bytes); }},
    {{"windows", ""}, [](auto& row) -> Cell { return std::uint64_t{row.windows}; }},
});
constexpr auto kHeavyHittersColumns = columns_in_order(kHeavyHittersWhat, kCostColumns<HeavyHittersRow>,
                                                       kHeavyHittersFigures, kSampleColumns<HeavyHittersRow>);

}  // namespace

std::span<const Column> heavy_hitters_columns() noexcept {
  static const std::vector<Column> heads = heads_of<HeavyHittersRow>(kHeavyHittersColumns);
  return heads;
}

Part heavy_hitters_part(std::span<const HeavyHittersRow> rows) {
  return part_of<HeavyHittersRow>(kHeavyHittersColumns, rows);
}

}  // namespace parshall::lab
