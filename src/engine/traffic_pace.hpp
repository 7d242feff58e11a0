// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>

#include "engine/worker.hpp"

namespace parshall {

/// Says how long a thread beside the workers may sleep: what it waits for comes with packets, so a quiet link needs it
/// rarely.
///
/// Cost: one word of each lane, each time.
class TrafficPace {
 public:
  explicit TrafficPace(const Workers& workers) noexcept : workers_(workers) {}

  /// Returns `busy` while packets come and for some milliseconds after the last one; then 20 ms.
  std::chrono::microseconds nap(std::chrono::microseconds busy) noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  const Workers& workers_;
  std::uint64_t polled_ = 0;
  Clock::time_point changed_ = Clock::now();
};

}  // namespace parshall
