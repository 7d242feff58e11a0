// SPDX-License-Identifier: Apache-2.0
#include "lab/thread_models/report.hpp"

#include <fmt/format.h>

namespace parshall::lab {
namespace {

struct ModelColumn {
  Column column;
  Cell (*of)(const ModelSweep& sweep, const ModelRow& row);
};

/// Lists all columns in order.
constexpr ModelColumn kModelColumns[] = {
    {{"traffic", "traffic", 0, kCommon}, [](auto& sweep, auto&) -> Cell { return sweep.traffic; }},
    {{"packets", "packets a run", 0, kCommon}, [](auto& sweep, auto&) -> Cell { return std::uint64_t{sweep.packets}; }},
    {{"cores", "cores", 0, kCommon}, [](auto&, auto& row) -> Cell { return std::uint64_t{row.cores}; }},
    {{"row", ""}, [](auto&, auto& row) -> Cell { return name_of(row); }},
    {{"model", "model"}, [](auto&, auto& row) -> Cell { return std::string(row.model->name); }},
    {{"workers", "workers"}, [](auto&, auto& row) -> Cell { return std::uint64_t{row.workers}; }},
    {{"threads", "threads"}, [](auto&, auto& row) -> Cell { return std::uint64_t{row.model->threads(row.workers)}; }},
    {{"scheduler", "scheduler"}, [](auto&, auto& row) -> Cell { return std::string(row.scheduler->name); }},
    {{"mpps", "Mpps"}, [](auto&, auto& row) -> Cell { return row.mpps.median; }},
    {{"low_mpps", "low"}, [](auto&, auto& row) -> Cell { return row.mpps.low; }},
    {{"high_mpps", "high"}, [](auto&, auto& row) -> Cell { return row.mpps.high; }},
    {{"ratio", "ratio"}, [](auto&, auto& row) -> Cell { return row.ratio.median; }},
    {{"low_ratio", "low"}, [](auto&, auto& row) -> Cell { return row.ratio.low; }},
    {{"high_ratio", "high"}, [](auto&, auto& row) -> Cell { return row.ratio.high; }},
    {{"cpu_ns", "CPU ns"}, [](auto&, auto& row) -> Cell { return row.cpu_ns; }},
    {{"lost_packets", "lost"}, [](auto&, auto& row) -> Cell { return std::uint64_t{row.lost}; }},
    {{"p999_gap_us", "p99.9 gap us", 3}, [](auto&, auto& row) -> Cell { return row.gaps.p999_us; }},
    {{"max_gap_us", "max gap us", 0}, [](auto&, auto& row) -> Cell { return row.gaps.max_us; }},
    {{"modelled_loss", "modelled loss", 4}, [](auto&, auto& row) -> Cell { return row.gaps.modelled_loss; }},
    {{"alone_max_gap_us", "alone: max gap us", 0}, [](auto&, auto& row) -> Cell { return row.gaps_alone.max_us; }},
    {{"alone_modelled_loss", "modelled loss", 4},
     [](auto&, auto& row) -> Cell { return row.gaps_alone.modelled_loss; }},
    {{"samples", "samples"}, [](auto&, auto& row) -> Cell { return std::uint64_t{row.samples}; }},
};

}  // namespace

std::span<const Column> model_columns() noexcept {
  static const std::vector<Column> columns = [] {
    std::vector<Column> made;
    for (const ModelColumn& column : kModelColumns) made.push_back(column.column);
    return made;
  }();
  return columns;
}

Part model_part(const ModelSweep& sweep, std::span<const ModelRow> rows) {
  Part part;
  for (const ModelRow& row : rows) {
    auto& cells = part.rows.emplace_back();
    for (const ModelColumn& column : kModelColumns) cells.push_back(column.of(sweep, row));
  }
  if (const std::size_t done = rows.front().samples; done < static_cast<std::size_t>(sweep.rounds))
    part.verdict = fmt::format("stopped after {} of {} rounds", done, sweep.rounds);
  return part;
}

}  // namespace parshall::lab
