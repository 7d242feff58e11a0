// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "base/record_ring.hpp"
#include "pipeline/measure/windows/window.hpp"

namespace parshall {

/// What a worker tells of its windows, through a ring: its flows' parts, window by window, one by one or together, and
/// each window's end.
struct WindowMessage {
  enum class Kind : std::uint32_t { flow, unread, bins, end };

  Kind kind;
  std::uint32_t clock;   ///< which of the window lengths in use
  std::uint64_t window;  ///< its number
};

/// A message of Kind::flow; what the window's measures made of the flow follows it.
struct FlowMessage {
  WindowMessage message;
  FlowWindow flow;
};
static_assert(sizeof(FlowMessage) == sizeof(WindowMessage) + sizeof(FlowWindow));

/// A message of Kind::unread.
struct UnreadMessage {
  WindowMessage message;
  std::uint64_t state;  ///< the flows'
  UnreadFlows flows;
};

/// What begins a message of Kind::bins; that many LinkBins follow.
struct BinsHead {
  std::uint32_t first, count;
};

struct BinsMessage {
  WindowMessage message;
  BinsHead head;
};

struct WindowEnd {
  WindowTotals totals;  ///< of the messages' window, which this worker has told all of
  std::uint64_t next;   ///< of windows below this number the worker has nothing more to tell

  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
};

template <class T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&value, 1));
}

/// The value that stands at the start of `bytes`.
template <class T>
T read_as(std::span<const std::byte> bytes) noexcept {
  T value;
  std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
  return value;
}

}  // namespace parshall
