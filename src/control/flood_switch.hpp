// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace parshall {

/// What came to a worker in a window, for its flood filter.
struct FloodWindow {
  double window_ns = 0;
  double new_flows = 0;  ///< packets that began a flow, or would have, had they not been kept out
  double other_ns = 0;   ///< what packets took but for inserting flows
};

/// Whether flows have to pass the flood filter: while inserting new ones takes most of the time that packets take, so
/// that flows of few packets are missed only then.
///
/// It goes on where inserting takes more than half of that time, and off where it would take less than a quarter. New
/// flows that take less than a hundredth of a worker's time are no flood, whatever else it does; a flood is over at
/// half of that.
///
/// Source: section VI.C of Tangari et al., MONA, IEEE TNSM 2020, which wants it on under adverse traffic only, and
///         leaves open when that is.
class FloodSwitch {
 public:
  static constexpr double kInsertNs = 210;  ///< rough, of what one machine showed

  explicit FloodSwitch(double insert_ns = kInsertNs) noexcept : insert_ns_(insert_ns) {}

  /// Whether it is on from here. A window of no time, or of numbers that cannot be, changes nothing.
  bool end_window(const FloodWindow& window) noexcept;

  bool is_on() const noexcept { return is_on_; }

 private:
  double insert_ns_;
  bool is_on_ = false;
};

/// What came to a worker's table in a window, for its flood filter.
struct TableLoad {
  double share = 0;      ///< of the longest window of a task that passed meanwhile
  double new_flows = 0;  ///< packets that began a flow, or would have, had they not been kept out
  double evicted = 0;    ///< flows that a task's open window had, and that left for want of room
  double live = 0;       ///< flows in the table at the end
};

/// Whether flows have to pass the flood filter, so that those which tasks judge as a whole have room for as long as a
/// window takes.
///
/// It goes on where the table will soon be nearly full and more flows begin in a task's window, at the rate of late,
/// than it has room for, or where most that begin evict one that the open window has; and off where a task's window
/// would fill less than half of the table.
class RoomSwitch {
 public:
  explicit RoomSwitch(std::size_t flows) noexcept : flows_(static_cast<double>(flows)) {}

  /// Whether it is on from here. A window of which no part has passed changes nothing.
  bool end_window(const TableLoad& load) noexcept;

  bool is_on() const noexcept { return is_on_; }

 private:
  double flows_;            ///< that have room
  double in_a_window_ = 0;  ///< flows that begin, at the rate of late
  bool is_on_ = false;
};

}  // namespace parshall
