// SPDX-License-Identifier: Apache-2.0
#include "base/figures/row_columns.hpp"
#include "lab/steps_experiment.hpp"

namespace parshall::lab {
namespace {

/// The mean, and `times` its half width: nothing of one case.
Cell end_of(const StepsRow& row, double times) {
  const std::optional<double> half = row.windows.half_width;
  return cell_if(half.has_value(), row.windows.mean + times * half.value_or(0));
}

constexpr auto kStepsColumns = std::to_array<ColumnOf<StepsRow>>({
    {{"first_step", "first step", 4}, [](auto& row) -> Cell { return row.first_step; }},
    {{"policy", "policy"}, [](auto& row) -> Cell { return std::string(row.policy->name); }},
    {{"windows", "windows", 1}, [](auto& row) -> Cell { return row.windows.mean; }},
    {{"low_windows", "low", 1}, [](auto& row) { return end_of(row, -1); }},
    {{"high_windows", "high", 1}, [](auto& row) { return end_of(row, 1); }},
    {{"reached_share", "reached", 3}, [](auto& row) -> Cell { return row.reached_share; }},
    {{"cases", "cases"}, [](auto& row) -> Cell { return std::uint64_t{row.cases}; }},
    {{"interval_of", ""}, [](auto&) -> Cell { return std::string("CASES"); }},
});

}  // namespace

std::span<const Column> steps_columns() noexcept {
  static const std::vector<Column> heads = heads_of<StepsRow>(kStepsColumns);
  return heads;
}

Part steps_part(std::span<const StepsRow> rows) { return part_of<StepsRow>(kStepsColumns, rows); }

}  // namespace parshall::lab
