// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/output/records/base_columns.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Makes a separate record of a biflow's reverse direction, for formats without elements for it. It has the columns of
/// its counters, and a statistic if the biflow has the same one for the reverse direction. Other data of a biflow is
/// about its source and is absent here.
class ReverseRecords {
 public:
  explicit ReverseRecords(std::span<const ColumnInfo> columns);

  /// Returns whether the records have this column of the reverse direction, under the name that the forward one has.
  static bool has(std::span<const ColumnInfo> columns, const ColumnInfo& reverse) noexcept;

  /// Returns the reverse record, or nullopt if there were no reverse packets. It is valid until the next call.
  std::optional<ReportFlow> of(const ReportFlow& biflow);

 private:
  /// Where a column's value comes from: a counter or another column; absent without either.
  struct Origin {
    const ColumnEntry* entry = nullptr;
    std::optional<std::size_t> column = {};
  };

  std::vector<Origin> origins_;  ///< one for each column
  FlowRecord record_;
  std::vector<Value> values_;
};

}  // namespace parshall
