// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall {

/// What came to a worker up to now, and how long it was at it, in any unit.
struct WorkerLoad {
  std::uint64_t offered = 0;  ///< packets, with those that the device had to drop
  std::uint64_t busy_ticks = 0, all_ticks = 0;
};

}  // namespace parshall
