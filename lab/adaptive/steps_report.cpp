// SPDX-License-Identifier: Apache-2.0
#include "base/figures/row_columns.hpp"
#include "lab/adaptive/steps_experiment.hpp"

namespace parshall::lab {
namespace {

/// Returns the mean plus `times` its half width; empty with too few values.
Cell end_of(const MeanInterval& of, double times) {
  return cell_if(of.half_width.has_value(), of.mean + times * of.half_width.value_or(0));
}

constexpr auto kStepsColumns = std::to_array<ColumnOf<StepsRow>>({
    {{"first_step", "first step", 4}, [](auto& row) -> Cell { return row.first_step; }},
    {{"policy", "policy"}, [](auto& row) -> Cell { return std::string(row.policy->name); }},
    {{"windows", "windows", 1}, [](auto& row) { return cell_if(row.reached_by_all != 0, row.windows.mean); }},
    {{"low_windows", "low", 1}, [](auto& row) { return end_of(row.windows, -1); }},
    {{"high_windows", "high", 1}, [](auto& row) { return end_of(row.windows, 1); }},
    {{"reached_share", "reached", 3}, [](auto& row) -> Cell { return row.reached_share.mean; }},
    {{"low_reached_share", "low", 3}, [](auto& row) { return end_of(row.reached_share, -1); }},
    {{"high_reached_share", "high", 3}, [](auto& row) { return end_of(row.reached_share, 1); }},
    {{"cases", "cases"}, [](auto& row) -> Cell { return std::uint64_t{row.cases}; }},
    {{"reached_by_all", "reached by all"}, [](auto& row) -> Cell { return std::uint64_t{row.reached_by_all}; }},
    {{"interval_of", ""}, [](auto&) -> Cell { return std::string("CASES"); }},
});

}  // namespace

std::span<const Column> steps_columns() noexcept {
  static const std::vector<Column> heads = heads_of<StepsRow>(kStepsColumns);
  return heads;
}

Part steps_part(std::span<const StepsRow> rows) { return part_of<StepsRow>(kStepsColumns, rows); }

}  // namespace parshall::lab
