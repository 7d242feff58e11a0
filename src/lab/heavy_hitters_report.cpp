// SPDX-License-Identifier: Apache-2.0
#include "base/figures/row_columns.hpp"
#include "lab/heavy_hitters_experiment.hpp"

namespace parshall::lab {
namespace {

constexpr bool kCommon = true;
using Row = const HeavyHittersRow&;

constexpr auto kWhat = std::to_array<ColumnOf<HeavyHittersRow>>({
    {{"traffic", "traffic", 2, kCommon}, [](Row row) -> Cell { return row.traffic; }},
    {{"window_ms", "window ms", 0, kCommon}, [](Row row) -> Cell { return static_cast<double>(row.window_ns) * 1e-6; }},
    {{"way", "way"}, [](Row row) -> Cell { return std::string(row.way->name); }},
    {{"one_in", "one in"}, [](Row row) { return cell_if(row.one_in != 1, std::uint64_t{row.one_in}); }},
    {{"width", "width"}, [](Row row) { return cell_if(row.width != 0, std::uint64_t{row.width}); }},
});
constexpr auto kFigures = std::to_array<ColumnOf<HeavyHittersRow>>({
    {{"recall", "recall", 3}, [](Row row) { return cell_if(row.windows != 0, row.recall); }},
    {{"precision", "precision", 3}, [](Row row) { return cell_if(row.windows != 0, row.precision); }},
    {{"mpps", "Mpps", 1}, [](Row row) -> Cell { return 1e3 / row.cost.median_ns; }},
    {{"memory_mb", "MB", 1}, [](Row row) -> Cell { return megabytes(row.memory_bytes); }},
    {{"windows", ""}, [](Row row) -> Cell { return std::uint64_t{row.windows}; }},
});
constexpr auto kColumns =
    columns_in_order(kWhat, kCostColumns<HeavyHittersRow>, kFigures, kSampleColumns<HeavyHittersRow>);

}  // namespace

std::span<const Column> heavy_hitters_columns() noexcept {
  static const std::vector<Column> heads = heads_of<HeavyHittersRow>(kColumns);
  return heads;
}

Part heavy_hitters_part(std::span<const HeavyHittersRow> rows) { return part_of<HeavyHittersRow>(kColumns, rows); }

}  // namespace parshall::lab
