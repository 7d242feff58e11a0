// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "app/live/rows.hpp"
#include "pipeline/output/groups/group_table.hpp"

namespace parshall::live {

/// Adds up flows by group for a view, one grouping at a time.
///
/// Cost: linear in the flows for each change of the flows, of the grouping, of what it is within, or of the window.
class RowGroups {
 public:
  RowGroups(Networks local, std::uint64_t seed, std::shared_ptr<const HostNames> hosts = nullptr)
      : local_(std::move(local)), seed_(seed), hosts_(std::move(hosts)) {}

  /// Returns the most memory that it takes for this many flows, which may have texts.
  static std::uint64_t memory_bytes(std::uint64_t flows, bool have_texts) noexcept;

  /// Returns the rows that are wanted: of flows, or of groups of them. Nullopt: `superseded` returned true because
  /// nobody wants them any more. A grouping by a column that flows do not have gives no rows.
  /// Adding up goes on when only another order is wanted, but not when `abandoned` returns true.
  std::optional<View> arrange(const Rows& flows, const Arrangement& wanted, const std::function<bool()>& superseded,
                              const std::function<bool()>& abandoned);
  std::optional<View> arrange(const Rows& flows, const Arrangement& wanted, const std::function<bool()>& superseded) {
    return arrange(flows, wanted, superseded, superseded);
  }

  /// Returns the columns of rows, as in View; `by` is null for flows.
  std::vector<ColumnInfo> columns(const Rows& flows, const Grouping* by) const;

  /// Must be called when the flows have changed.
  void forget() noexcept { is_known_ = false; }
  /// Gives the memory back.
  void clear() noexcept;

 private:
  bool add_up(const Rows& flows, const Arrangement& wanted, const std::function<bool()>& abandoned);
  void take_in(const ReportFlow& group);
  bool begin(const Rows& flows, const Grouping& by);

  const Networks local_;
  const std::uint64_t seed_;
  const std::shared_ptr<const HostNames> hosts_;
  bool is_known_ = false;
  std::vector<Opened> within_;
  std::size_t window_ = kUsualWindow;
  Rows rows_;
  std::optional<GroupSchema> schema_;
  std::uint64_t most_ = 0;  ///< groups in the table
  std::optional<GroupTable> table_;
};

}  // namespace parshall::live
