// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive_report.hpp"

#include <algorithm>
#include <optional>

namespace parshall::lab {
namespace {

struct AdaptiveColumn {
  Column column;
  Cell (*of)(const AdaptiveRow& row, const TaskAccuracy& task);
};

constexpr bool kCommon = true;
using Row = const AdaptiveRow&;
using Task = const TaskAccuracy&;

double share(std::uint64_t part, std::uint64_t all) noexcept {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

constexpr AdaptiveColumn kColumns[] = {
    {{"scenario", "scenario", 0, kCommon}, [](Row row, Task) -> Cell { return std::string(row.scenario->name); }},
    {{"states", "states", 0, kCommon}, [](Row row, Task) -> Cell { return std::string(row.config->name); }},
    {{"run", ""}, [](Row row, Task task) -> Cell { return std::string(name_of(row.mode)) + ", " + task.name; }},
    {{"mode", ""}, [](Row row, Task) -> Cell { return std::string(name_of(row.mode)); }},
    {{"task", ""}, [](Row, Task task) -> Cell { return task.name; }},
    {{"queue_packets", "queue"}, [](Row row, Task) -> Cell { return std::uint64_t{row.queue}; }},
    {{"flood_share", "flood"}, [](Row row, Task) -> Cell { return row.flood; }},
    {{"filter_bytes", "filter"}, [](Row row, Task) -> Cell { return std::uint64_t{row.filter_bytes}; }},
    {{"kept_out_packets", "kept out"}, [](Row row, Task) -> Cell { return std::uint64_t{row.kept_out}; }},
    {{"load", "load"}, [](Row row, Task) -> Cell { return row.load; }},
    {{"mpps", "Mpps"}, [](Row row, Task) -> Cell { return row.mpps; }},
    {{"offered_packets", ""}, [](Row row, Task) -> Cell { return std::uint64_t{row.offered}; }},
    {{"missed_packets", ""}, [](Row row, Task) -> Cell { return std::uint64_t{row.missed}; }},
    {{"missed_share", "missed", 4}, [](Row row, Task) -> Cell { return share(row.missed, row.offered); }},
    {{"shed_share", "shed", 4}, [](Row row, Task) -> Cell { return share(row.shed, row.offered); }},
    {{"sampled_one_in", "one in"}, [](Row row, Task) -> Cell { return std::uint64_t{row.one_in}; }},
    {{"lossy_windows", "lossy windows"}, [](Row row, Task) -> Cell { return std::uint64_t{row.lossy_windows}; }},
    {{"longest_loss_windows", "in a row"}, [](Row row, Task) -> Cell { return std::uint64_t{row.longest_loss}; }},
    {{"given_way_share", "gave way"}, [](Row row, Task) -> Cell { return row.shifted_share; }},
    {{"satisfaction", "satisfied"}, [](Row, Task task) -> Cell { return share(task.satisfied, task.windows); }},
    {{"recall", "recall", 3}, [](Row, Task task) -> Cell { return task.recall; }},
    {{"precision", "precision", 3}, [](Row, Task task) -> Cell { return task.precision; }},
    {{"mean_error", "error", 3}, [](Row, Task task) -> Cell { return cell_if(task.judged != 0, task.mean_error); }},
    {{"worst_error", "worst", 3}, [](Row, Task task) -> Cell { return cell_if(task.judged != 0, task.worst_error); }},
    {{"bound_held_share", "bound held", 3},
     [](Row, Task task) -> Cell { return cell_if(task.told != 0, share(task.held, task.told)); }},
    {{"bound_told_share", "told", 2}, [](Row, Task task) -> Cell { return share(task.told, task.windows); }},
    {{"memory_growth", "memory grew", 3}, [](Row row, Task) -> Cell { return row.memory_growth; }},
    {{"events_lost", "events lost"}, [](Row row, Task) -> Cell { return std::uint64_t{row.events_lost}; }},
    {{"windows", ""}, [](Row, Task task) -> Cell { return std::uint64_t{task.windows}; }},
    {{"overhead_share", "overhead", 4}, [](Row row, Task) -> Cell { return row.overhead_share; }},
    {{"longest_step_us", "longest us", 0}, [](Row row, Task) -> Cell { return row.longest_us; }},
    {{"cost_residual", "residual"}, [](Row row, Task) -> Cell { return row.residual; }},
    {{"left_out_share", "left out", 3}, [](Row row, Task) -> Cell { return row.left_out_share; }},
};

}  // namespace

std::span<const Column> adaptive_columns() noexcept {
  static const std::vector<Column> columns = [] {
    std::vector<Column> made;
    for (const AdaptiveColumn& column : kColumns) made.push_back(column.column);
    return made;
  }();
  return columns;
}

Part adaptive_part(std::span<const AdaptiveRow> rows) {
  Part part;
  for (const AdaptiveRow& row : rows)
    for (const TaskAccuracy& task : row.tasks) {
      auto& cells = part.rows.emplace_back();
      for (const AdaptiveColumn& column : kColumns) cells.push_back(column.of(row, task));
    }
  return part;
}

}  // namespace parshall::lab
