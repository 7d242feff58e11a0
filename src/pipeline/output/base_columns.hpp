// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "pipeline/flow/record.hpp"
#include "pipeline/output/column.hpp"
#include "pipeline/output/value.hpp"

namespace parshall {

/// What a flow had at the report before, for the rate over the last interval.
struct IntervalBase {
  std::uint64_t packets = 0, wire_bytes = 0, first_ns = 0;
  double interval_s = 0;  ///< packet time between the two reports; 0 without one before
};

/// A column that follows from a flow's counters.
struct ColumnEntry {
  std::string_view name;  ///< as asked for and as in the header, with its unit
  std::string_view unit;  ///< "" where there is none
  ColumnType type;
  bool nullable;
  ColumnRole role;
  IpfixElement ipfix;
  std::span<const std::string_view> values;  ///< of an enumeration: names of 0, 1, ...
  std::string_view help;
  Value (*read)(const FlowRecord&, const IntervalBase&);
};

inline constexpr std::size_t kBaseColumns = 11;

/// Those that every record begins with, and those that come where they were asked for: one line each.
std::span<const ColumnEntry, kBaseColumns> base_columns() noexcept;
std::span<const ColumnEntry> counter_columns() noexcept;

/// Returns the columns that every biflow has: what came back, and who began. Source: RFC 5103.
std::span<const ColumnEntry> reverse_columns() noexcept;

/// The values of base_columns().
void read_base_columns(const FlowRecord& record, std::span<Value, kBaseColumns> out) noexcept;

/// A statistic's column that has an element.
struct StatisticElement {
  std::string_view column;
  IpfixElement ipfix;
};
std::span<const StatisticElement> statistic_elements() noexcept;

}  // namespace parshall
