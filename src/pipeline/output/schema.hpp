// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/measure/registry.hpp"
#include "pipeline/output/base_columns.hpp"
#include "pipeline/output/identity_columns.hpp"
#include "pipeline/output/value.hpp"

namespace parshall {

/// Every column that there is. Statistics stand as patterns of names, for any percentile or sample.
std::vector<ColumnInfo> list_columns();

/// The columns of a report: those that every record begins with, then those that were asked for, in that order, some
/// from the counters, some from the statistics of measure, some from where the flow began and when packets were lost.
/// All outputs go by it.
class Schema {
 public:
  Schema();  ///< nothing was asked for
  static Result<Schema> make(std::span<const std::string> names, const StatisticOptions& options);

  std::span<const ColumnInfo> columns() const noexcept { return columns_; }
  std::span<const ColumnInfo> asked() const noexcept { return columns().subspan(kBaseColumns); }
  const std::shared_ptr<const StatisticSet>& statistics() const noexcept { return statistics_; }
  bool needs_interval() const noexcept { return needs_interval_; }

  /// Records are biflows: reverse_columns() are its last.
  void add_reverse();
  /// Where packets that were lost are to be noted; null where no column goes by it. The same of all copies.
  const std::shared_ptr<LossLog>& losses() const noexcept { return losses_; }

  /// One value per column. `row` may be empty: then the statistics' values are absent.
  void read(const FlowRecord& record, std::span<const std::byte> row, const IntervalBase& base,
            std::span<Value> out) const noexcept;

 private:
  struct Origin {
    const ColumnEntry* entry = nullptr;
    const IdentityColumn* identity = nullptr;
    std::size_t statistic = 0;  ///< where both are null
  };

  std::vector<ColumnInfo> columns_;
  std::vector<Origin> origins_;  ///< of those that were asked for
  std::shared_ptr<const StatisticSet> statistics_;
  bool needs_interval_ = false;
  std::shared_ptr<const FlowIds> ids_;  ///< null: no column goes by it, nor by when packets were lost
  std::shared_ptr<LossLog> losses_;
};

}  // namespace parshall
