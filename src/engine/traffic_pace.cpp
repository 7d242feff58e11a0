// SPDX-License-Identifier: Apache-2.0
#include "engine/traffic_pace.hpp"

#include <algorithm>

namespace parshall {

TrafficPace::TrafficPace(const Workers& workers) : workers_(workers) {
  for (const auto& lane : workers.lanes()) outlasts_sleep_ &= lane->source().descriptor().has_value();
}

std::chrono::microseconds TrafficPace::nap(std::chrono::microseconds busy) noexcept {
  constexpr std::chrono::milliseconds kQuietAfter{20}, kQuiet{20};
  std::uint64_t polled = 0;
  for (const auto& lane : workers_.lanes()) polled += lane->polled();
  const Clock::time_point now = Clock::now();
  if (polled != polled_) {
    polled_ = polled;
    changed_ = now;
  }
  const bool is_busy = !outlasts_sleep_ || now - changed_ < kQuietAfter || workers_.finished();
  return is_busy ? busy : std::max<std::chrono::microseconds>(busy, kQuiet);
}

}  // namespace parshall
