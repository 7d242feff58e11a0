// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>

namespace parshall::tester {

/// Returns the time of the steady clock in ns.
inline std::uint64_t steady_ns() noexcept {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

}  // namespace parshall::tester
