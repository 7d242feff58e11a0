// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "base/record_ring.hpp"
#include "pipeline/measure/windows/row_pool.hpp"
#include "pipeline/measure/windows/window.hpp"

namespace parshall {

/// Message from a worker about its windows, sent through a ring, window by window: rows of flows, sums of the others,
/// and each window's end. A flow that waits for earlier windows of other workers is kept as a message of its own.
struct WindowMessage {
  enum class Kind : std::uint32_t { rows, flow, unread, bins, end };

  Kind kind;
  std::uint32_t clock;   ///< index of the window length among those in use
  std::uint64_t window;  ///< number of the window
};

/// Message of Kind::rows. Its reader gives the rows back.
struct RowsMessage {
  WindowMessage message;
  RowPool* pool;
  RowList rows;

  /// Calls `take(flow)` with a FlowWindow for each row, whose measures are null if there are none, and `done()` for
  /// some of them together. Their memory is given back once that returns.
  template <class Take, class Done>
  void consume(Take take, Done done) const {
    pool->consume(
        rows,
        [&](const WindowRow& row, const FlowKey& key) {
          take(FlowWindow{.key = key,
                          .packets = row.packets,
                          .ip_bytes = row.ip_bytes,
                          .wire_bytes = row.wire_bytes,
                          .first_ns = row.first_ns,
                          .last_ns = row.last_ns,
                          .tcp_flags = row.tcp_flags,
                          .state = row.state,
                          .effective_state = row.effective_state,
                          .weight = row.weight,
                          .other_state = row.other_state,
                          .more_states = row.more_states,
                          .starts = row.starts,
                          .is_part = row.is_part,
                          .earlier_states = row.earlier_states,
                          .measured = row.is_measured ? row.measured() : nullptr});
        },
        done);
  }
};

/// Message of Kind::flow. The results of the window's measures for the flow follow it.
struct FlowMessage {
  WindowMessage message;
  FlowWindow flow;
};
static_assert(sizeof(FlowMessage) == sizeof(WindowMessage) + sizeof(FlowWindow));

/// Message of Kind::unread.
struct UnreadMessage {
  WindowMessage message;
  std::uint64_t state;  ///< state of the flows
  UnreadFlows flows;
};

/// Beginning of a message of Kind::bins; `count` LinkBins follow.
struct BinsHead {
  std::uint32_t first, count;
};

struct BinsMessage {
  WindowMessage message;
  BinsHead head;
};

struct WindowEnd {
  WindowTotals totals;  ///< totals of the messages' window, which this worker has reported completely
  std::uint64_t next;   ///< the worker has nothing more to report about windows below this number

  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
};

template <class T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&value, 1));
}

/// Reads the value at the start of `bytes`.
template <class T>
T read_as(std::span<const std::byte> bytes) noexcept {
  T value;
  std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
  return value;
}

/// Reads a message of Kind::rows: calls `take(flow)` for each row, and gives the rows back. Does nothing with other
/// messages, and returns false.
template <class Take>
bool take_rows(std::span<const std::byte> message, Take take) {
  if (read_as<WindowMessage>(message).kind != WindowMessage::Kind::rows) return false;
  read_as<RowsMessage>(message).consume(take, [] {});
  return true;
}

}  // namespace parshall
