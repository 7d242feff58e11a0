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

#include "lab/figures.hpp"

namespace parshall::lab {

/// A column, and what stands there in a row of an experiment.
template <class Row>
struct ColumnOf {
  Column column;
  Cell (*of)(const Row& row);
};

/// Of rows with a `cost` (lab::Cost).
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
inline constexpr std::array<ColumnOf<Row>, 3> kSampleColumns{{
    {{"kept", ""}, [](const Row& row) -> Cell { return std::uint64_t{row.cost.kept}; }},
    {{"samples", ""}, [](const Row& row) -> Cell { return std::uint64_t{row.cost.samples}; }},
    {{"kept_of_samples", "samples"},
     [](const Row& row) -> Cell { return fmt::format("{}/{}", row.cost.kept, row.cost.samples); }},
}};

/// One after the other.
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

/// 10^6 bytes.
inline double megabytes(std::uint64_t bytes) noexcept { return static_cast<double>(bytes) / 1e6; }

}  // namespace parshall::lab
