// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parshall {

/// Describes the machine that a measurement ran on as (name, value) pairs, in the order to print them. Properties that
/// the machine does not report are left out.
std::vector<std::pair<std::string, std::string>> describe_machine();

/// Total time of all processors since boot, in kernel clock ticks; all 0 where it is not available.
struct ProcessorTime {
  double all = 0, idle = 0;
  double stolen = 0;  ///< time that the host gave to other guests
};
ProcessorTime processor_time();

/// Returns the L3 cache in bytes that core 0 shares with its neighbours; 0 if unknown. On a processor with several L3
/// caches this is one of them, whereas the C library reports their sum.
std::size_t last_level_cache_bytes();

/// Returns the memory in bytes that is free or that the page cache would release.
std::size_t available_bytes();

}  // namespace parshall
