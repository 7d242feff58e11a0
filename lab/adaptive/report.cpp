// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive/report.hpp"

#include <algorithm>
#include <optional>

namespace parshall::lab {
namespace {

struct AdaptiveColumn {
  Column column;
  Cell (*of)(const AdaptiveRow& row, const TaskAccuracy& task);
};

double share(std::uint64_t part, std::uint64_t all) noexcept {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

constexpr AdaptiveColumn kAdaptiveColumns[] = {
    {{"scenario", "scenario", 0, kCommon}, [](auto& row, auto&) -> Cell { return std::string(row.scenario->name); }},
    {{"states", "states", 0, kCommon}, [](auto& row, auto&) -> Cell { return std::string(row.config->name); }},
    {{"run", ""}, [](auto& row, auto& task) -> Cell { return std::string(row.mode->name) + ", " + task.name; }},
    {{"mode", ""}, [](auto& row, auto&) -> Cell { return std::string(row.mode->name); }},
    {{"task", ""}, [](auto&, auto& task) -> Cell { return task.name; }},
    {{"queue_packets", "queue"}, [](auto& row, auto&) -> Cell { return std::uint64_t{row.queue}; }},
    {{"slots", "slots"}, [](auto& row, auto&) -> Cell { return std::uint64_t{row.slots}; }},
    {{"flood_share", "flood"}, [](auto& row, auto&) -> Cell { return row.flood; }},
    {{"filter_bytes", "filter"}, [](auto& row, auto&) -> Cell { return std::uint64_t{row.filter_bytes}; }},
    {{"kept_out_packets", "kept out"}, [](auto& row, auto&) -> Cell { return std::uint64_t{row.kept_out}; }},
    {{"load", "load"}, [](auto& row, auto&) -> Cell { return row.load; }},
    {{"mpps", "Mpps"}, [](auto& row, auto&) -> Cell { return row.mpps; }},
    {{"offered_packets", ""}, [](auto& row, auto&) -> Cell { return std::uint64_t{row.offered}; }},
    {{"missed_packets", ""}, [](auto& row, auto&) -> Cell { return std::uint64_t{row.missed}; }},
    {{"missed_share", "missed", 4}, [](auto& row, auto&) -> Cell { return share(row.missed, row.offered); }},
    {{"lossy_windows", "lossy windows"}, [](auto& row, auto&) -> Cell { return std::uint64_t{row.lossy_windows}; }},
    {{"longest_loss_windows", "most in a row"},
     [](auto& row, auto&) -> Cell { return std::uint64_t{row.longest_loss}; }},
    {{"missed_later_share", "missed later", 4}, [](auto& row, auto&) -> Cell { return row.missed_later_share; }},
    {{"skew_at_loss", "loss at skew"},
     [](auto& row, auto&) -> Cell { return cell_if(row.skew_at_loss.has_value(), row.skew_at_loss.value_or(0)); }},
    {{"reduced_share", "reduced"}, [](auto& row, auto&) -> Cell { return row.reduced_share; }},
    {{"missing_share", "flows missed"}, [](auto&, auto& task) -> Cell { return task.missing_share; }},
    {{"variation", "variation"},
     [](auto&, auto& task) -> Cell { return cell_if(task.variation.has_value(), task.variation.value_or(0)); }},
    {{"satisfaction", "satisfied"}, [](auto&, auto& task) -> Cell { return share(task.satisfied, task.windows); }},
    {{"satisfaction_by_count", "by count"},
     [](auto&, auto& task) -> Cell { return share(task.satisfied_by_count, task.windows); }},
    {{"satisfaction_by_recall", "by recall"},
     [](auto&, auto& task) -> Cell { return share(task.recalled, task.windows); }},
    {{"recall", "recall", 3}, [](auto&, auto& task) -> Cell { return task.recall; }},
    {{"precision", "precision", 3}, [](auto&, auto& task) -> Cell { return task.precision; }},
    {{"f1", "F1", 3}, [](auto&, auto& task) -> Cell { return task.f1; }},
    {{"mean_error", "error", 3}, [](auto&, auto& task) -> Cell { return cell_if(task.judged != 0, task.mean_error); }},
    {{"worst_error", "worst", 3},
     [](auto&, auto& task) -> Cell { return cell_if(task.judged != 0, task.worst_error); }},
    {{"bound_held_share", "bound held", 3},
     [](auto&, auto& task) -> Cell { return cell_if(task.told != 0, share(task.held, task.told)); }},
    {{"bound_told_share", "bound known", 2}, [](auto&, auto& task) -> Cell { return share(task.told, task.windows); }},
    {{"memory_growth", "memory grew", 3}, [](auto& row, auto&) -> Cell { return row.memory_growth; }},
    {{"events_lost", "events lost"}, [](auto& row, auto&) -> Cell { return std::uint64_t{row.events_lost}; }},
    {{"windows", ""}, [](auto&, auto& task) -> Cell { return std::uint64_t{task.windows}; }},
    {{"overhead_share", "overhead", 4}, [](auto& row, auto&) -> Cell { return row.overhead_share; }},
    {{"longest_step_us", "longest us", 0}, [](auto& row, auto&) -> Cell { return row.longest_us; }},
    {{"cost_factor", "cost"}, [](auto& row, auto&) -> Cell { return row.factor; }},
    {{"left_out_share", "left out", 3}, [](auto& row, auto&) -> Cell { return row.left_out_share; }},
};

}  // namespace

std::span<const Column> adaptive_columns() noexcept {
  static const std::vector<Column> columns = [] {
    std::vector<Column> made;
    for (const AdaptiveColumn& column : kAdaptiveColumns) made.push_back(column.column);
    return made;
  }();
  return columns;
}

Part adaptive_part(std::span<const AdaptiveRow> rows) {
  Part part;
  for (const AdaptiveRow& row : rows)
    for (const TaskAccuracy& task : row.tasks) {
      auto& cells = part.rows.emplace_back();
      for (const AdaptiveColumn& column : kAdaptiveColumns) cells.push_back(column.of(row, task));
    }
  return part;
}

}  // namespace parshall::lab
