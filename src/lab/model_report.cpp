// SPDX-License-Identifier: Apache-2.0
#include "lab/model_report.hpp"

#include <fmt/format.h>

namespace parshall::lab {
namespace {

struct ModelColumn {
  Column column;
  Cell (*of)(const ModelSweep& sweep, const ModelRow& row);
};

constexpr bool kCommon = true;
using Sweep = const ModelSweep&;
using Row = const ModelRow&;

/// Every one there is, in this order.
constexpr ModelColumn kColumns[] = {
    {{"traffic", "traffic", 0, kCommon}, [](Sweep sweep, Row) -> Cell { return sweep.traffic; }},
    {{"packets", "packets a run", 0, kCommon}, [](Sweep sweep, Row) -> Cell { return std::uint64_t{sweep.packets}; }},
    {{"cores", "cores", 0, kCommon}, [](Sweep, Row row) -> Cell { return std::uint64_t{row.cores}; }},
    {{"row", ""}, [](Sweep, Row row) -> Cell { return name_of(row); }},
    {{"model", "model"}, [](Sweep, Row row) -> Cell { return std::string(row.model->name); }},
    {{"workers", "workers"}, [](Sweep, Row row) -> Cell { return std::uint64_t{row.workers}; }},
    {{"threads", "threads"}, [](Sweep, Row row) -> Cell { return std::uint64_t{row.model->threads(row.workers)}; }},
    {{"scheduler", "scheduler"}, [](Sweep, Row row) -> Cell { return std::string(row.scheduler->name); }},
    {{"mpps", "Mpps"}, [](Sweep, Row row) -> Cell { return row.mpps.median; }},
    {{"low_mpps", "low"}, [](Sweep, Row row) -> Cell { return row.mpps.low; }},
    {{"high_mpps", "high"}, [](Sweep, Row row) -> Cell { return row.mpps.high; }},
    {{"ratio", "ratio"}, [](Sweep, Row row) -> Cell { return row.ratio.median; }},
    {{"low_ratio", "low"}, [](Sweep, Row row) -> Cell { return row.ratio.low; }},
    {{"high_ratio", "high"}, [](Sweep, Row row) -> Cell { return row.ratio.high; }},
    {{"cpu_ns", "CPU ns"}, [](Sweep, Row row) -> Cell { return row.cpu_ns; }},
    {{"lost_packets", "lost"}, [](Sweep, Row row) -> Cell { return std::uint64_t{row.lost}; }},
    {{"p999_gap_us", "p99.9 gap us", 3}, [](Sweep, Row row) -> Cell { return row.gaps.p999_us; }},
    {{"max_gap_us", "max gap us", 0}, [](Sweep, Row row) -> Cell { return row.gaps.max_us; }},
    {{"modelled_loss", "modelled loss", 4}, [](Sweep, Row row) -> Cell { return row.gaps.modelled_loss; }},
    {{"alone_max_gap_us", "alone: max gap us", 0}, [](Sweep, Row row) -> Cell { return row.gaps_alone.max_us; }},
    {{"alone_modelled_loss", "modelled loss", 4}, [](Sweep, Row row) -> Cell { return row.gaps_alone.modelled_loss; }},
    {{"samples", "samples"}, [](Sweep, Row row) -> Cell { return std::uint64_t{row.samples}; }},
};

}  // namespace

std::span<const Column> model_columns() noexcept {
  static const std::vector<Column> columns = [] {
    std::vector<Column> made;
    for (const ModelColumn& column : kColumns) made.push_back(column.column);
    return made;
  }();
  return columns;
}

Part model_part(const ModelSweep& sweep, std::span<const ModelRow> rows) {
  Part part;
  for (const ModelRow& row : rows) {
    auto& cells = part.rows.emplace_back();
    for (const ModelColumn& column : kColumns) cells.push_back(column.of(sweep, row));
  }
  if (const std::size_t done = rows.front().samples; done < static_cast<std::size_t>(sweep.rounds))
    part.verdict = fmt::format("stopped after {} of {} rounds", done, sweep.rounds);
  return part;
}

}  // namespace parshall::lab
