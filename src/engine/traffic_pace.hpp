// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>

#include "engine/worker.hpp"

namespace parshall {

/// Decides how long a thread beside the workers may sleep. Its work comes with packets, so a quiet link needs it
/// rarely.
///
/// Cost:   reads one word of each lane per call.
class TrafficPace {
 public:
  explicit TrafficPace(const Workers& workers);

  /// Notes that the thread had something to do, so that more may follow, such as flows that time out.
  void note_work() noexcept { changed_ = Clock::now(); }

  /// Returns `busy` while packets come or there is work, and for some milliseconds after that; then 20 ms. Devices
  /// whose queues may overflow in 20 ms always count as busy.
  std::chrono::microseconds nap(std::chrono::microseconds busy) noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  const Workers& workers_;
  bool outlasts_sleep_ = true;
  std::uint64_t polled_ = 0;
  Clock::time_point changed_ = Clock::now();
};

}  // namespace parshall
