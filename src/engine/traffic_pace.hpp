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
  explicit TrafficPace(const Workers& workers);

  /// The thread had something to do: more may come, such as of flows that time out.
  void note_work() noexcept { changed_ = Clock::now(); }

  /// Returns `busy` while packets come or there is work, and for some milliseconds after that; then 20 ms. Devices
  /// whose queues may not outlast that are always busy.
  std::chrono::microseconds nap(std::chrono::microseconds busy) noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  const Workers& workers_;
  bool outlasts_sleep_ = true;
  std::uint64_t polled_ = 0;
  Clock::time_point changed_ = Clock::now();
};

}  // namespace parshall
