// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "pipeline/flow/record.hpp"
#include "pipeline/output/records/column.hpp"
#include "pipeline/output/records/value.hpp"

namespace parshall {

/// Counters of a flow at the previous report, for the rate over the last interval.
struct IntervalBase {
  std::uint64_t packets = 0, wire_bytes = 0, first_ns = 0;
  double interval_s = 0;  ///< packet time between the two reports; 0 without a previous one
};

/// Column that is computed from a flow's counters.
struct ColumnEntry {
  std::string_view name;  ///< name as requested and in the header, with its unit
  std::string_view unit;  ///< "" without a unit
  ColumnType type;
  bool nullable;
  ColumnRole role;
  IpfixElement ipfix;
  std::span<const std::string_view> values;  ///< for an enumeration: names of 0, 1, ...
  std::string_view help;
  Value (*read)(const FlowRecord&, const IntervalBase&);
};

inline constexpr std::size_t kBaseColumns = 11;

/// Return the columns that every record begins with, and those that are added on request, one line each.
std::span<const ColumnEntry, kBaseColumns> base_columns() noexcept;
std::span<const ColumnEntry> counter_columns() noexcept;

/// Returns the columns that every biflow has: reverse counts, and which end began. Source: RFC 5103.
std::span<const ColumnEntry> reverse_columns() noexcept;

/// Reads the values of base_columns().
void read_base_columns(const FlowRecord& record, std::span<Value, kBaseColumns> out) noexcept;

/// Column of a statistic that has an information element.
struct StatisticElement {
  std::string_view column;
  IpfixElement ipfix;
};
std::span<const StatisticElement> statistic_elements() noexcept;

}  // namespace parshall
