// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/measure/registry.hpp"
#include "pipeline/output/records/base_columns.hpp"
#include "pipeline/output/records/identity_columns.hpp"
#include "pipeline/output/records/value.hpp"

namespace parshall {

/// Returns all columns. Statistics are represented by name patterns, for any percentile or sample.
std::vector<ColumnInfo> list_columns();

/// Returns what there is in place of a column that is known by another name elsewhere, such as "src" or "iat_avg": the
/// end of an error, or an empty text.
std::string column_hint(std::string_view name);

/// Says whether the requested columns follow those that every record begins with, or are the whole list.
enum class ColumnList : std::uint8_t { more, whole };

/// Loads the libraries that columns need, given as Schema::make() takes them. Returns why one cannot be used.
std::optional<Error> libraries_problem(std::span<const std::string> names);

/// Returns how many columns can be read from a record alone in the usual order. It is kBaseColumns if these come first
/// and none is absent, else 0.
std::size_t columns_of_record(std::span<const ColumnInfo> columns) noexcept;

/// Returns whether the columns that every record begins with come first, in the usual order.
bool begins_as_usual(std::span<const ColumnInfo> columns) noexcept;

/// Columns of a report, which all outputs use. Either those that every record begins with, followed by the requested
/// ones in order, or a list that the user gave. Values come from the counters, from statistics, from the flow's origin,
/// and from the log of losses.
class Schema {
 public:
  Schema();  ///< makes a schema without requested columns
  static Result<Schema> make(std::span<const std::string> names, const StatisticOptions& options,
                             ColumnList list = ColumnList::more);

  std::span<const ColumnInfo> columns() const noexcept { return columns_; }
  /// Returns the columns behind columns_of_record().
  std::span<const ColumnInfo> asked() const noexcept { return columns().subspan(columns_of_record(columns_)); }
  const std::shared_ptr<const StatisticSet>& statistics() const noexcept { return statistics_; }
  bool has(std::string_view name) const noexcept;
  bool needs_interval() const noexcept { return needs_interval_; }
  /// Asks for the counts at the previous report (ReportFlow::before), though no column needs them.
  void need_interval() noexcept { needs_interval_ = true; }

  /// Adds, at the end, those of reverse_columns() that are missing; for records that are biflows.
  void add_reverse();
  /// Sets the forms that text uses for times, and for integers that 53 bits may not hold.
  void set_forms(TextForm times, TextForm integers);
  /// Sets the names of addresses, for src_name and dst_name.
  void set_hosts(std::shared_ptr<const HostNames> hosts) noexcept { hosts_ = std::move(hosts); }
  const std::shared_ptr<const HostNames>& hosts() const noexcept { return hosts_; }
  /// Sets the flow's key. Columns of fields outside the key have no values.
  void set_key(KeyFields key);
  /// Returns the log to note lost packets in; null if no column needs it. All copies share it.
  const std::shared_ptr<LossLog>& losses() const noexcept { return losses_; }

  /// Reads one value per column. If `row` is empty, the statistics' values are absent.
  void read(const FlowRecord& record, std::span<const std::byte> row, const IntervalBase& base,
            std::span<Value> out) const noexcept;

 private:
  struct Origin {
    const ColumnEntry* entry = nullptr;
    const IdentityColumn* identity = nullptr;
    std::optional<std::size_t> statistic = {};  ///< nullopt, with both null: the column has no values
  };

  void add(const ColumnEntry& entry);

  std::vector<ColumnInfo> columns_;
  std::vector<Origin> origins_;  ///< one for each column
  std::size_t of_record_ = 0;    ///< columns_of_record(), which are read together
  std::shared_ptr<const StatisticSet> statistics_;
  bool needs_interval_ = false;
  std::shared_ptr<const FlowIds> ids_;  ///< null if no column needs it or the log of losses
  std::shared_ptr<LossLog> losses_;
  std::shared_ptr<const HostNames> hosts_;  ///< null if addresses have no names
};

}  // namespace parshall
