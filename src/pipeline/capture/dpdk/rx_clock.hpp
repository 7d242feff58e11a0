// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/realtime.hpp"

namespace parshall::dpdk {

/// Simultaneous readings of a device's tick counter and CLOCK_REALTIME.
struct ClockPair {
  std::uint64_t ticks = 0;
  std::uint64_t time_ns = 0;
};

/// Converts device ticks into nanoseconds since 1970.
///
/// Error: the time between a pair's two readings (microseconds) plus the drift of both clocks between two pairs; feed a
///        pair a second. Ticks before the last pair are as accurate as those after it.
class TickClock {
 public:
  constexpr TickClock() = default;
  constexpr explicit TickClock(ClockPair first) : first_(first), last_(first) {}

  /// Adds a pair. If its ticks did not advance (the device was reset), calibration starts over.
  constexpr void feed(ClockPair pair) noexcept {
    if (pair.ticks <= first_.ticks || pair.time_ns <= first_.time_ns) {
      *this = TickClock(pair);
      return;
    }
    ns_per_tick_ = static_cast<double>(pair.time_ns - first_.time_ns) / static_cast<double>(pair.ticks - first_.ticks);
    last_ = pair;
  }

  constexpr bool calibrated() const noexcept { return ns_per_tick_ > 0; }
  constexpr double ticks_per_second() const noexcept { return 1e9 / ns_per_tick_; }

  constexpr std::uint64_t time_ns(std::uint64_t ticks) const noexcept {
    const auto ahead = static_cast<std::int64_t>(ticks - last_.ticks);
    return last_.time_ns +
           static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<double>(ahead) * ns_per_tick_));
  }

 private:
  ClockPair first_{};
  ClockPair last_{};
  double ns_per_tick_ = 0;
};

}  // namespace parshall::dpdk
