// SPDX-License-Identifier: Apache-2.0
#include "engine/traffic_pace.hpp"

#include <algorithm>

namespace parshall {

std::chrono::microseconds TrafficPace::nap(std::chrono::microseconds busy) noexcept {
  constexpr std::chrono::milliseconds kQuietAfter{20}, kQuiet{20};
  std::uint64_t polled = 0;
  for (const auto& lane : workers_.lanes()) polled += lane->polled();
  const Clock::time_point now = Clock::now();
  if (polled != polled_) {
    polled_ = polled;
    changed_ = now;
  }
  return now - changed_ < kQuietAfter || workers_.finished() ? busy : std::max<std::chrono::microseconds>(busy, kQuiet);
}

}  // namespace parshall
