// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/live/opened.hpp"
#include "pipeline/output/groups/grouping.hpp"

namespace parshall::live {

/// Fixed columns at the start of every table; chosen ones follow.
enum FixedColumn : std::size_t { kProtocol, kSource, kDestination, kPps, kBps, kPackets, kBytes, kFixedColumns };

/// Times that rates are means over, in seconds.
inline constexpr std::array<double, 3> kWindowsS{2, 10, 60};
inline constexpr std::size_t kUsualWindow = 1;

/// Rows of the table that are wanted, and their order.
struct Arrangement {
  const Grouping* by = nullptr;     ///< what flows are added up by; null: a row is a flow
  std::vector<Opened> within = {};  ///< only flows that are in all of these groups
  std::size_t sort = kPackets;      ///< numbers sort descending, text ascending
  bool reversed = false;
  std::string filter = {};            ///< RowFilter
  std::uint64_t first = 0;            ///< row at the top
  std::size_t window = kUsualWindow;  ///< of kWindowsS
  bool hides_idle = false;            ///< leaves out rows without a packet in that time

  double window_s() const noexcept { return kWindowsS[window]; }

  friend bool operator==(const Arrangement&, const Arrangement&) = default;
};

}  // namespace parshall::live
