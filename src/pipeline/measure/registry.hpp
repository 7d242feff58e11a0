// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "pipeline/measure/statistic.hpp"
#include "pipeline/measure/statistics/application_names.hpp"
#include "pipeline/measure/statistics/digest.hpp"
#include "pipeline/measure/statistics/first_payloads.hpp"
#include "pipeline/measure/statistics/flow_class.hpp"
#include "pipeline/measure/statistics/flow_label.hpp"
#include "pipeline/measure/statistics/flow_origin.hpp"

namespace parshall {

/// The statistics kept for every flow, with the place of each one's state in a flow's row.
///
/// Shape: a record's row is `row_bytes()` bytes of plain memory. A live flow has `state_bytes()`, all zero before the
///        first sample, and `carry_bytes()` beside them. The first 56 bytes hold the largest state that fits there,
///        which with 8 bytes in front of it fills one cache line. Those with rows of their own come last, so that all
///        others are at the same offset in both.
///        A biflow has a live row for each direction, and one for both together if any statistic asks (`both()`). The
///        row of its record has those of the forward direction, of the reverse one and of both, as far as asked.
/// Merge: rows that two workers kept for one flow can be added up if `mergeable()`.
class StatisticSet {
 public:
  struct Placed {
    const Statistic* statistic;
    std::size_t offset;        ///< offset of its state from the start of a live flow's
    std::size_t row_offset;    ///< likewise in a record's row
    std::size_t carry_offset;  ///< likewise among a flow's carries
  };

  static constexpr std::size_t kMaxColumns = 64;

  StatisticSet() = default;

  /// Returns the bytes of a record's row: a multiple of 8; 0 without statistics.
  std::size_t row_bytes() const noexcept { return both_at() + (both_ ? both_->row_bytes() : 0); }
  /// Returns the bytes in it that one direction has.
  std::size_t direction_row_bytes() const noexcept { return direction_row_bytes_; }
  std::size_t state_bytes() const noexcept { return state_bytes_; }
  std::size_t carry_bytes() const noexcept { return carry_bytes_; }

  /// Writes the row of a record; needed if has_own_rows(), else the state is the row.
  void write_row(const std::byte* state, const std::byte* carries, std::byte* row) const noexcept;
  /// Returns whether statistics are of the reverse direction, or of both.
  bool has_other_directions() const noexcept { return has_reverse_ || both_; }
  bool has_reverse() const noexcept { return has_reverse_; }
  /// Returns the statistics of both directions together, under their plain names; null if there are none.
  const std::shared_ptr<const StatisticSet>& both() const noexcept { return both_; }
  /// Returns where a record's row has those of both directions.
  std::size_t both_at() const noexcept { return direction_row_bytes_ * (has_reverse_ ? 2 : 1); }

  std::span<const Column> columns() const noexcept { return columns_; }
  /// Returns the statistics that each direction keeps.
  std::span<const Placed> statistics() const noexcept { return placed_; }

  /// Writes one value per column, in the order of `columns()`; nullopt where there is no value.
  void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept;

  /// Returns how many packets at a flow's beginning change its row; nullopt if all packets do.
  std::optional<std::uint32_t> first_packets() const noexcept { return first_packets_; }

  /// Returns whether flows have classes; class_of() reads one from a row.
  bool classifies() const noexcept { return flow_class_ != nullptr; }
  ClassId class_of(const std::byte* row) const noexcept { return flow_class_->class_of(row + flow_class_at_); }
  /// Returns the class by whatever is known of the flow, where class_of() takes the sizes alone.
  ToldClass told_class(const std::byte* row) const noexcept { return flow_class_->told(row + flow_class_at_); }
  /// Returns null if flows have no classes.
  const FlowClass* flow_class() const noexcept { return flow_class_; }

  /// Returns the state of a flow's class. It can be copied to a row of another set of statistics with the same
  /// classifier.
  std::span<const std::byte> class_state(const std::byte* row) const noexcept {
    return {row + flow_class_at_, flow_class_->row_bytes()};
  }
  std::span<std::byte> class_state(std::byte* row) const noexcept {
    return {row + flow_class_at_, flow_class_->row_bytes()};
  }

  /// Returns whether any statistic needs SideFacts.
  bool needs_side() const noexcept;
  /// Returns whether any statistic needs findings on TCP connections.
  bool needs_tcp() const noexcept;

  /// Returns whether rows hold a digest; digest_state() points to that.
  bool has_digest() const noexcept { return has_digest_; }
  const std::byte* digest_state(const std::byte* row) const noexcept { return row + digest_at_; }
  std::byte* digest_state(std::byte* row) const noexcept { return row + digest_at_; }

  /// Returns whether rows hold where their flows began; origin_state() points to that.
  bool has_origins() const noexcept { return has_origins_; }
  std::byte* origin_state(std::byte* row) const noexcept { return row + origin_at_; }
  const std::byte* origin_state(const std::byte* row) const noexcept { return row + origin_at_; }

  /// Returns where rows hold the names of their flows, and the statistic; null if they do not.
  const Placed* names() const noexcept { return names_ ? &*names_ : nullptr; }
  const ApplicationNames* application_names() const noexcept { return application_names_; }

  /// Returns where rows hold the labels of their flows, and the statistic; null if they do not.
  const Placed* label() const noexcept { return label_ ? &*label_ : nullptr; }
  const FlowLabel* flow_label() const noexcept { return flow_label_; }
  /// Returns where rows hold the first payloads of their flows, and the statistic; null if they do not.
  const Placed* payloads() const noexcept { return payloads_ ? &*payloads_ : nullptr; }
  const FirstPayloads* first_payloads() const noexcept { return first_payloads_; }
  /// Returns whether any statistic reads packets, not only headers.
  bool reads_packets() const noexcept { return names_ || label_ || payloads_; }
  /// Returns whether the row of a record is another than the state.
  bool has_own_rows() const noexcept { return carry_bytes_ != 0 || label_; }

  bool mergeable() const noexcept;
  void merge(std::byte* into, const std::byte* from) const noexcept;  ///< requires mergeable()

 private:
  friend Result<StatisticSet> make_statistics(std::span<const std::string>, const StatisticOptions&);

  /// A column that was asked for, without its direction.
  struct Asked {
    Direction direction;
    std::string column;

    bool operator==(const Asked&) const = default;
  };
  /// A value that is read from a direction's row, and its column.
  struct Target {
    std::size_t value, column;
  };

  void place(std::vector<std::unique_ptr<Statistic>> statistics);
  void order_columns(std::span<const Asked> asked);
  void read_direction(const std::byte* row, std::span<std::optional<double>> out) const noexcept;

  std::vector<std::unique_ptr<Statistic>> owned_;
  std::vector<Placed> placed_;
  std::vector<Column> columns_;
  std::array<std::vector<Target>, 3> targets_;  ///< by Direction
  std::size_t direction_row_bytes_ = 0, state_bytes_ = 0, carry_bytes_ = 0;
  bool has_reverse_ = false;
  std::shared_ptr<const StatisticSet> both_;
  std::optional<std::uint32_t> first_packets_;
  const FlowClass* flow_class_ = nullptr;
  std::size_t flow_class_at_ = 0;  ///< offset of its state from the start of the row
  bool has_origins_ = false;
  std::size_t origin_at_ = 0;
  bool has_digest_ = false;
  std::size_t digest_at_ = 0;
  std::optional<Placed> names_;
  const ApplicationNames* application_names_ = nullptr;
  std::optional<Placed> payloads_;
  const FirstPayloads* first_payloads_ = nullptr;
  std::optional<Placed> label_;
  const FlowLabel* flow_label_ = nullptr;
};

/// Makes statistics by name: <variable>_<what> with or without the unit, such as gap_mean, iat_p99.9_ns or size_sd, and
/// `class` if the options have a classifier. "reverse_" or "both_" in front of a name asks for that direction. Names
/// with the same meaning become one column, at the place of the first. Fails on an unknown name.
Result<StatisticSet> make_statistics(std::span<const std::string> names, const StatisticOptions& options);

/// Refuses a column of the reverse direction, or of both, where flows have one direction.
Error needs_biflows(std::string_view name);

/// Returns whether make_statistics() knows this name.
bool is_statistic(std::string_view name);
/// Returns all known names, with and without unit. A pattern, such as a percentile, is represented by an example.
std::vector<std::string> all_statistic_names();

/// One line of `parshall list statistics`.
struct StatisticListing {
  std::string name;    ///< a pattern: "gap_mean", "gap_p<percentile>"
  std::string unit;    ///< empty for pure numbers
  std::string column;  ///< the name with the unit
  ColumnType type;
  std::string help;
  std::size_t bytes_per_flow;  ///< if it is the only one requested; statistics of one variable share their state
  bool mergeable;
};

std::vector<StatisticListing> list_statistics(const StatisticOptions& options);

}  // namespace parshall
