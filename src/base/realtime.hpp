// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <ctime>

namespace parshall {

/// Returns nanoseconds since 1970, by CLOCK_REALTIME.
inline std::uint64_t realtime_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace parshall
