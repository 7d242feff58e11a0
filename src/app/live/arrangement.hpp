// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/live/opened.hpp"
#include "pipeline/output/groups/grouping.hpp"

namespace parshall::live {

/// Fixed columns at the start of every table; chosen ones follow.
enum FixedColumn : std::size_t { kProtocol, kSource, kDestination, kPps, kBps, kPackets, kBytes, kFixedColumns };

/// Rows of the table that are wanted, and their order.
struct Arrangement {
  const Grouping* by = nullptr;     ///< what flows are added up by; null: a row is a flow
  std::vector<Opened> within = {};  ///< only flows that are in all of these groups
  std::size_t sort = kPackets;      ///< numbers sort descending, text ascending
  bool reversed = false;
  std::string filter = {};  ///< RowFilter
  std::uint64_t first = 0;  ///< row at the top
  double window_s = 0;      ///< time that rates are means over; 0: since the previous report
  bool hides_idle = false;  ///< leaves out rows without a packet in that time

  friend bool operator==(const Arrangement&, const Arrangement&) = default;
};

}  // namespace parshall::live
