// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "pipeline/output/records/base_columns.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Makes a separate record of a biflow's reverse direction, for formats without elements for it. It has the columns of
/// its counters. Other data of a biflow is about its source and is absent here.
class ReverseRecords {
 public:
  explicit ReverseRecords(std::span<const ColumnInfo> columns);

  /// Returns the reverse record, or nullopt if there were no reverse packets. It is valid until the next call.
  std::optional<ReportFlow> of(const ReportFlow& biflow);

 private:
  std::vector<const ColumnEntry*> entries_;  ///< one for each column; null: absent
  FlowRecord record_;
  std::vector<Value> values_;
};

}  // namespace parshall
