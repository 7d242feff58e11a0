// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

namespace parshall {

/// Timeouts in packet time; 0 turns one off.
struct Timeouts {
  std::uint64_t idle_ns = 0;
  std::uint64_t active_ns = 0;
  std::uint64_t linger_ns = 0;  ///< replaces the idle timeout of a closed flow (see FlowSink); shorter than it

  /// Returns the shortest time without a packet after which a flow may end.
  std::uint64_t shortest_quiet_ns() const noexcept {
    return idle_ns == 0 || linger_ns == 0 ? std::max(idle_ns, linger_ns) : std::min(idle_ns, linger_ns);
  }
};

}  // namespace parshall
