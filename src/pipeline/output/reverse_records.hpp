// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "pipeline/output/base_columns.hpp"
#include "pipeline/output/report.hpp"

namespace parshall {

/// Makes a record of what came back, for formats without elements for it. It has the columns of its counters; what else
/// is kept of a biflow is of its source, and absent here.
class ReverseRecords {
 public:
  explicit ReverseRecords(std::span<const ColumnInfo> columns);

  /// Returns nothing where nothing came back. The record is valid until the next call.
  std::optional<ReportFlow> of(const ReportFlow& biflow);

 private:
  std::vector<const ColumnEntry*> entries_;  ///< of each column; null: absent
  FlowRecord record_;
  std::vector<Value> values_;
};

}  // namespace parshall
