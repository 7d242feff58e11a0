// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/measure/registry.hpp"
#include "pipeline/output/base_columns.hpp"
#include "pipeline/output/identity_columns.hpp"
#include "pipeline/output/value.hpp"

namespace parshall {

/// Every column that there is. Statistics stand as patterns of names, for any percentile or sample.
std::vector<ColumnInfo> list_columns();

/// Whether columns that are asked for come behind those that every record begins with, or are all that there is.
enum class ColumnList : std::uint8_t { more, whole };

/// Returns how many of the columns a record alone gives in the usual order: kBaseColumns where these come first and
/// none is absent, else 0.
std::size_t columns_of_record(std::span<const ColumnInfo> columns) noexcept;

/// Returns whether the columns that every record begins with come first, in the usual order.
bool begins_as_usual(std::span<const ColumnInfo> columns) noexcept;

/// The columns of a report: those that every record begins with, then those that were asked for, in that order, some
/// from the counters, some from the statistics of measure, some from where the flow began and when packets were lost;
/// or a list that somebody gave. All outputs go by it.
class Schema {
 public:
  Schema();  ///< nothing was asked for
  static Result<Schema> make(std::span<const std::string> names, const StatisticOptions& options,
                             ColumnList list = ColumnList::more);

  std::span<const ColumnInfo> columns() const noexcept { return columns_; }
  /// Returns those behind columns_of_record().
  std::span<const ColumnInfo> asked() const noexcept { return columns().subspan(columns_of_record(columns_)); }
  const std::shared_ptr<const StatisticSet>& statistics() const noexcept { return statistics_; }
  bool has(std::string_view name) const noexcept;
  bool needs_interval() const noexcept { return needs_interval_; }

  /// Records are biflows: those of reverse_columns() come last that are not there yet.
  void add_reverse();
  /// Text has times, and integers that 53 bits may not hold, in these forms.
  void set_forms(TextForm times, TextForm integers);
  /// Columns of fields that are not in the flow's key have no values.
  void set_key(KeyFields key);
  /// Where packets that were lost are to be noted; null where no column goes by it. The same of all copies.
  const std::shared_ptr<LossLog>& losses() const noexcept { return losses_; }

  /// One value per column. `row` may be empty: then the statistics' values are absent.
  void read(const FlowRecord& record, std::span<const std::byte> row, const IntervalBase& base,
            std::span<Value> out) const noexcept;

 private:
  struct Origin {
    const ColumnEntry* entry = nullptr;
    const IdentityColumn* identity = nullptr;
    std::optional<std::size_t> statistic = {};  ///< nothing, and both are null: the column has no values
  };

  void add(const ColumnEntry& entry);

  std::vector<ColumnInfo> columns_;
  std::vector<Origin> origins_;  ///< of each column
  std::size_t of_record_ = 0;    ///< columns_of_record(): read all at once
  std::shared_ptr<const StatisticSet> statistics_;
  bool needs_interval_ = false;
  std::shared_ptr<const FlowIds> ids_;  ///< null: no column goes by it, nor by when packets were lost
  std::shared_ptr<LossLog> losses_;
};

}  // namespace parshall
