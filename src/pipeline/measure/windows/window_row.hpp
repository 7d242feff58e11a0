// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/huge_buffer.hpp"
#include "pipeline/measure/flow_rows.hpp"
#include "pipeline/measure/windows/window_stream.hpp"

namespace parshall {

inline constexpr std::uint32_t kNoWindow = 0;  ///< no window; numbers of windows begin at 1

/// A flow's state, and the state whose measures it has. They differ while the flow is reduced.
struct StatePair {
  std::uint8_t own, effective;
  friend bool operator==(StatePair, StatePair) = default;
};

/// Counts of a flow in a window. Its measures follow in memory.
struct alignas(64) WindowRow {
  std::uint32_t serial = kNoWindow;  ///< window number of the counts; kNoWindow once all is reported
  std::uint32_t listed = 0;          ///< last window number whose list has the slot
  std::uint64_t packets = 0, ip_bytes = 0, wire_bytes = 0;
  std::uint64_t first_ns = 0, last_ns = 0;
  std::uint16_t tcp_flags = 0;
  std::uint8_t state = 0, effective_state = 0, other_state = 0;
  std::uint8_t weight = 0;
  bool more_states : 1 = false, starts : 1 = false;
  bool is_measured : 1 = false;  ///< if false, its measures are undefined
  std::uint64_t earlier_states = 0;

  StatePair states() const noexcept { return {state, effective_state}; }

  std::byte* measured() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* measured() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }

  void add(const RowUpdate& packet) noexcept {
    ++packets;
    ip_bytes += packet.counts.ip_bytes();
    wire_bytes += packet.wire_bytes();
    last_ns = packet.time_ns;
    tcp_flags = static_cast<std::uint16_t>(tcp_flags | packet.counts.tcp_flags());
  }
};
static_assert(sizeof(WindowRow) == 64);

/// A flow that has no row in the window because it is counted with others.
struct UnreadFlow {
  std::uint32_t serial = kNoWindow;
  std::uint8_t state = 0, weight = 0;
  bool starts = false;
  bool has_row = false;  ///< true if its packets in the window are in its row
};
static_assert(sizeof(UnreadFlow) == 8);

/// A window of this worker, with the slots of the rows that it touched. Each slot is listed once, even if it is reused.
struct WorkerWindow {
  std::uint32_t serial = kNoWindow;
  bool untold = false;
  std::uint64_t number = 0;
  WindowTotals totals;
  std::uint32_t least_one_in = 1;  ///< smallest n of its samples of one in n; totals.one_in is the largest
  HugeBuffer<std::uint32_t> slots;
  std::uint32_t listed = 0, told = 0;
  std::vector<LinkBin> bins;
  std::uint32_t bins_told = 0;
  std::vector<UnreadFlows> unread;  ///< by state

  void restart(std::uint64_t window, std::uint32_t new_serial, bool is_untold, std::uint32_t one_in) noexcept {
    serial = new_serial;
    untold = is_untold;
    number = window;
    totals = {};
    totals.one_in = least_one_in = one_in;
    listed = told = bins_told = 0;
  }
};

}  // namespace parshall
