// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/measure/flow_rows.hpp"
#include "pipeline/measure/windows/row_pool.hpp"
#include "pipeline/measure/windows/window.hpp"

namespace parshall {

inline constexpr std::uint32_t kNoWindow = 0;  ///< no window; serial numbers of windows begin at 1

/// A flow's state, and the state whose measures it has. They differ while the flow is reduced.
struct StatePair {
  std::uint8_t own, effective;
  friend bool operator==(StatePair, StatePair) = default;
};

/// Place of a flow's row of the open window.
struct RowPlace {
  std::uint32_t serial = kNoWindow;    ///< window of the row; another than the open one: the flow has none yet
  std::uint32_t row = RowPool::kNone;  ///< kNone: no row was free, and the flow is not reported
};
static_assert(sizeof(RowPlace) == 8);

/// A flow that has no row in the window because it is counted with others.
struct UnreadFlow {
  std::uint32_t serial = kNoWindow;
  std::uint8_t state = 0, weight = 0;
  bool starts = false;
  bool has_row = false;  ///< true if its packets in the window are in its row
};
static_assert(sizeof(UnreadFlow) == 8);

/// A window of this worker: its totals, and the rows of its flows.
struct WorkerWindow {
  std::uint32_t serial = kNoWindow;
  bool untold = false;
  std::uint64_t number = 0;
  WindowTotals totals;
  RowList rows;
  std::vector<LinkBin> bins;
  std::uint32_t bins_told = 0;
  std::vector<UnreadFlows> unread;  ///< by state

  void restart(std::uint64_t window, std::uint32_t new_serial, bool is_untold) noexcept {
    serial = new_serial;
    untold = is_untold;
    number = window;
    totals = {};
    bins_told = 0;
  }
};

}  // namespace parshall
