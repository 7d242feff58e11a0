// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace parshall {

/// Load of a worker in a window, for its flood filter.
struct FloodWindow {
  double window_ns = 0;
  double new_flows = 0;  ///< packets that began a flow, or would have without the filter
  double other_ns = 0;   ///< time for packets, without inserting flows
};

/// Decides if flows must pass the flood filter. The filter is on only while inserting new flows takes most of the time
/// that packets take, since it misses flows of few packets.
///
/// It switches on if inserting takes more than half of that time, and off if it would take less than a quarter. New
/// flows that take less than a hundredth of a worker's time are never a flood; a flood ends at half of that.
///
/// Source: section VI.C of Tangari et al., MONA, IEEE/ACM ToN 2020. It wants the filter under adverse traffic only, and
///         leaves open when that is.
class FloodSwitch {
 public:
  static constexpr double kInsertNs = 210;  ///< rough, from one machine

  explicit FloodSwitch(double insert_ns = kInsertNs) noexcept : insert_ns_(insert_ns) {}

  /// Ends a window and returns true if the filter is on from now on. Invalid windows change nothing.
  bool end_window(const FloodWindow& window) noexcept;

  bool is_on() const noexcept { return is_on_; }

 private:
  double insert_ns_;
  bool is_on_ = false;
};

/// Load of a worker's table in a window, for its flood filter.
struct TableLoad {
  double share = 0;      ///< part of the tasks' longest window that passed
  double new_flows = 0;  ///< packets that began a flow, or would have without the filter
  double evicted = 0;    ///< flows of an open task window that were evicted
  double live = 0;       ///< flows in the table at the end
};

/// Decides if flows must pass the flood filter so that the table has room for a whole window of the flows that tasks
/// judge.
///
/// It switches on in either of two cases. The table will soon be nearly full, and at the recent rate more flows begin
/// in a task's window than it has room for. Or most new flows evict one of the open window. It switches off if a task's
/// window would fill less than half of the table.
class RoomSwitch {
 public:
  explicit RoomSwitch(std::size_t flows) noexcept : flows_(static_cast<double>(flows)) {}

  /// Ends a window and returns true if the filter is on from now on. An empty window changes nothing.
  bool end_window(const TableLoad& load) noexcept;

  bool is_on() const noexcept { return is_on_; }

 private:
  double flows_;            ///< capacity
  double in_a_window_ = 0;  ///< new flows per task window, at the recent rate
  bool is_on_ = false;
};

}  // namespace parshall
