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
#include "pipeline/flow/record.hpp"
#include "pipeline/measure/registry.hpp"

namespace parshall {

/// How a column's number is written.
enum class ColumnFormat : std::uint8_t { number, tcp_flags };

struct ReportColumn {
  std::string name;  ///< with its unit
  std::string help;
  ColumnFormat format = ColumnFormat::number;
  std::vector<std::string> values = {};  ///< names of the values 0, 1, ...; none: as the format says

  const std::string& name_of(double value) const noexcept { return values[static_cast<std::size_t>(value)]; }
};

/// What a flow had at the report before, for the rate over the last interval.
struct IntervalBase {
  std::uint64_t packets = 0, wire_bytes = 0, first_ns = 0;
  double interval_s = 0;  ///< packet time between the two reports; 0 without one before
};

/// A column computed from a flow's counters alone.
struct FlowColumnEntry {
  std::string_view name;  ///< as asked for and as in the header, with its unit
  std::string_view help;
  ColumnFormat format;
  std::span<const std::string_view> values;  ///< as in ReportColumn
  std::optional<double> (*value)(const FlowRecord&, const IntervalBase&);
};

/// Every such column: one line each.
std::span<const FlowColumnEntry> flow_column_registry() noexcept;

/// The columns of a report in the order asked: some from the counters, some from the statistics of measure.
class Columns {
 public:
  static Result<Columns> make(std::span<const std::string> names, const StatisticOptions& options);

  std::span<const ReportColumn> columns() const noexcept { return columns_; }
  const std::shared_ptr<const StatisticSet>& statistics() const noexcept { return statistics_; }
  bool needs_interval() const noexcept { return needs_interval_; }

  /// One value per column. `row` may be empty: then the statistics' values are absent.
  void read(const FlowRecord& record, std::span<const std::byte> row, const IntervalBase& base,
            std::span<std::optional<double>> out) const noexcept;

 private:
  struct Origin {
    const FlowColumnEntry* entry = nullptr;  ///< null: of the statistics
    std::size_t statistic = 0;
  };

  std::vector<ReportColumn> columns_;
  std::vector<Origin> origins_;
  std::shared_ptr<const StatisticSet> statistics_;
  bool needs_interval_ = false;
};

}  // namespace parshall
