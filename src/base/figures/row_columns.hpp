// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/figures/batch_costs.hpp"
#include "base/figures/cpu_counters.hpp"
#include "base/figures/figures.hpp"

namespace parshall::lab {

/// Column, with the function that reads its cell from a row of an experiment.
template <class Row>
struct ColumnOf {
  Column column;
  Cell (*of)(const Row& row);
};

/// Returns `figure`, or an empty cell if no whole batch was measured.
inline Cell of_batches(const BatchFigures& batches, double figure) { return cell_if(batches.rounds != 0, figure); }

/// Columns for rows that have a `cost` (lab::Cost).
template <class Row>
inline constexpr std::array<ColumnOf<Row>, 6> kCostColumns{{
    {{"ns", "ns"}, [](const Row& row) -> Cell { return row.cost.median_ns; }},
    {{"low_ns", "low"}, [](const Row& row) -> Cell { return row.cost.low_ns; }},
    {{"high_ns", "high"}, [](const Row& row) -> Cell { return row.cost.high_ns; }},
    {{"ratio", "ratio"}, [](const Row& row) -> Cell { return row.cost.ratio; }},
    {{"low_ratio", "low"}, [](const Row& row) -> Cell { return row.cost.ratio_low; }},
    {{"high_ratio", "high"}, [](const Row& row) -> Cell { return row.cost.ratio_high; }},
}};
template <class Row>
inline constexpr std::array<ColumnOf<Row>, 5> kSampleColumns{{
    {{"instructions_per_cycle", ""},
     [](const Row& row) {
       return cell_if(row.cost.counts.has_value(), row.cost.counts.value_or(CpuCounts()).instructions_per_cycle);
     }},
    {{"cache_miss_share", ""},
     [](const Row& row) {
       return cell_if(row.cost.counts.has_value(), row.cost.counts.value_or(CpuCounts()).cache_miss_share);
     }},
    {{"kept", ""}, [](const Row& row) -> Cell { return std::uint64_t{row.cost.kept}; }},
    {{"samples", ""}, [](const Row& row) -> Cell { return std::uint64_t{row.cost.samples}; }},
    {{"kept_of_samples", "samples"},
     [](const Row& row) -> Cell { return fmt::format("{}/{}", row.cost.kept, row.cost.samples); }},
}};
/// Columns for rows that have `batches` (lab::BatchFigures).
template <class Row>
inline constexpr std::array<ColumnOf<Row>, 13> kBatchColumns{{
    {{"p50_cycles", "p50 cycles", 0},
     [](const Row& row) { return of_batches(row.batches, row.batches.p50_cycles.median); }},
    {{"low_p50_cycles", ""}, [](const Row& row) { return of_batches(row.batches, row.batches.p50_cycles.low); }},
    {{"high_p50_cycles", ""}, [](const Row& row) { return of_batches(row.batches, row.batches.p50_cycles.high); }},
    {{"p99_cycles", "p99", 0}, [](const Row& row) { return of_batches(row.batches, row.batches.p99_cycles.median); }},
    {{"low_p99_cycles", ""}, [](const Row& row) { return of_batches(row.batches, row.batches.p99_cycles.low); }},
    {{"high_p99_cycles", ""}, [](const Row& row) { return of_batches(row.batches, row.batches.p99_cycles.high); }},
    {{"p999_cycles", "p99.9", 0},
     [](const Row& row) { return of_batches(row.batches, row.batches.p999_cycles.median); }},
    {{"low_p999_cycles", ""}, [](const Row& row) { return of_batches(row.batches, row.batches.p999_cycles.low); }},
    {{"high_p999_cycles", ""}, [](const Row& row) { return of_batches(row.batches, row.batches.p999_cycles.high); }},
    {{"lossless_mpps", "lossless Mpps", 1},
     [](const Row& row) { return of_batches(row.batches, row.batches.lossless_mpps.median); }},
    {{"low_lossless_mpps", ""}, [](const Row& row) { return of_batches(row.batches, row.batches.lossless_mpps.low); }},
    {{"high_lossless_mpps", ""},
     [](const Row& row) { return of_batches(row.batches, row.batches.lossless_mpps.high); }},
    {{"modelled_loss", ""}, [](const Row& row) { return of_batches(row.batches, row.batches.modelled_loss); }},
}};

/// Concatenates arrays of columns.
template <class Row, std::size_t... N>
constexpr auto columns_in_order(const std::array<ColumnOf<Row>, N>&... parts) {
  std::array<ColumnOf<Row>, (N + ...)> all{};
  auto end = all.begin();
  ((end = std::ranges::copy(parts, end).out), ...);
  return all;
}

template <class Row>
std::vector<Column> heads_of(std::span<const ColumnOf<Row>> columns) {
  std::vector<Column> heads;
  for (const ColumnOf<Row>& column : columns) heads.push_back(column.column);
  return heads;
}

template <class Row>
Part part_of(std::span<const ColumnOf<Row>> columns, std::span<const Row> rows, std::string verdict = {}) {
  Part part{.rows = {}, .verdict = std::move(verdict)};
  for (const Row& row : rows) {
    auto& cells = part.rows.emplace_back();
    for (const ColumnOf<Row>& column : columns) cells.push_back(column.of(row));
  }
  return part;
}

/// Converts to units of 10^6 bytes.
inline double megabytes(std::uint64_t bytes) noexcept { return static_cast<double>(bytes) / 1e6; }

}  // namespace parshall::lab
