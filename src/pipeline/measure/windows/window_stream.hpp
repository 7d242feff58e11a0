// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "base/record_ring.hpp"
#include "pipeline/measure/windows/window.hpp"

namespace parshall {

/// Message from a worker about its windows, sent through a ring: parts of flows, window by window, one by one or
/// together, and each window's end.
struct WindowMessage {
  enum class Kind : std::uint32_t { flow, unread, bins, end };

  Kind kind;
  std::uint32_t clock;   ///< index of the window length among those in use
  std::uint64_t window;  ///< number of the window
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

}  // namespace parshall
