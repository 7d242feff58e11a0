// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "pipeline/measure/statistic.hpp"
#include "pipeline/measure/statistics/flow_class.hpp"
#include "pipeline/measure/statistics/flow_origin.hpp"

namespace parshall {

/// The statistics kept for every flow, and where each one's state lies in a flow's row.
///
/// Shape: a row is `row_bytes()` bytes of plain memory, all zero before the first sample. The first 56 bytes hold
///        the largest state that fits there, so that with 8 bytes in front of it it fills one cache line.
/// Merge: rows of one flow kept by two workers add up where `mergeable()`.
class StatisticSet {
 public:
  struct Placed {
    const Statistic* statistic;
    std::size_t offset;  ///< of its state, from the start of the row
  };

  static constexpr std::size_t kMaxColumns = 64;

  StatisticSet() = default;

  std::size_t row_bytes() const noexcept { return row_bytes_; }  ///< a multiple of 8; 0 without statistics
  std::span<const Column> columns() const noexcept { return columns_; }
  std::span<const Placed> statistics() const noexcept { return placed_; }

  /// Writes one value per column, in the order of `columns()`; nothing where the value does not exist.
  void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept;

  /// How many packets at a flow's beginning change its row; nothing: all of its packets do.
  std::optional<std::uint32_t> first_packets() const noexcept { return first_packets_; }

  /// Whether flows have classes, and that of one by its row.
  bool classifies() const noexcept { return flow_class_ != nullptr; }
  ClassId class_of(const std::byte* row) const noexcept { return flow_class_->class_of(row + flow_class_at_); }
  /// Null where they have none.
  const FlowClass* flow_class() const noexcept { return flow_class_; }

  /// What tells a flow's class, or will, in a row of another choice of statistics by the same classifier.
  std::span<const std::byte> class_state(const std::byte* row) const noexcept {
    return {row + flow_class_at_, flow_class_->row_bytes()};
  }
  std::span<std::byte> class_state(std::byte* row) const noexcept {
    return {row + flow_class_at_, flow_class_->row_bytes()};
  }

  /// Whether any of them takes SideFacts.
  bool needs_side() const noexcept;
  /// Whether any of them takes what is found out about TCP connections.
  bool needs_tcp() const noexcept;

  /// Whether rows tell where their flows began, and that of one.
  bool has_origins() const noexcept { return has_origins_; }
  std::byte* origin_state(std::byte* row) const noexcept { return row + origin_at_; }
  const std::byte* origin_state(const std::byte* row) const noexcept { return row + origin_at_; }

  bool mergeable() const noexcept;
  void merge(std::byte* into, const std::byte* from) const noexcept;  ///< only where mergeable()

 private:
  friend Result<StatisticSet> make_statistics(std::span<const std::string>, const StatisticOptions&);

  void place(std::vector<std::unique_ptr<Statistic>> statistics);
  void order_columns(std::span<const std::string> names);

  std::vector<std::unique_ptr<Statistic>> owned_;
  std::vector<Placed> placed_;
  std::vector<Column> columns_;
  std::vector<std::size_t> source_;  ///< of each column: its place when all statistics are read in turn
  std::size_t row_bytes_ = 0;
  std::optional<std::uint32_t> first_packets_;
  const FlowClass* flow_class_ = nullptr;
  std::size_t flow_class_at_ = 0;  ///< of its state, from the start of the row
  bool has_origins_ = false;
  std::size_t origin_at_ = 0;
};

/// Statistics by name, <variable>_<what> with or without the unit: gap_mean, iat_p99.9_ns, size_sd; and class, where
/// the options have a classifier. Names that mean the same become one column, at the place of the first. Fails on an
/// unknown name.
Result<StatisticSet> make_statistics(std::span<const std::string> names, const StatisticOptions& options);

/// Whether make_statistics() knows this name.
bool is_statistic(std::string_view name);
/// Returns the names that it knows, with and without unit; a pattern, such as a percentile, as an example.
std::vector<std::string> all_statistic_names();

/// One line of `parshall list statistics`.
struct StatisticListing {
  std::string name;    ///< a pattern: "gap_mean", "gap_p<percentile>"
  std::string unit;    ///< empty for pure numbers
  std::string column;  ///< the name with the unit
  ColumnType type;
  std::string help;
  std::size_t bytes_per_flow;  ///< when it is the only one asked; those of one variable share their state
  bool mergeable;
};

std::vector<StatisticListing> list_statistics(const StatisticOptions& options);

}  // namespace parshall
