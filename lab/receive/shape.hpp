// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parshall::lab {

/// Decides if all queues of all cores share one buffer pool, or if each queue has its own.
enum class Pools : std::uint8_t { shared, own };
inline constexpr std::string_view kPoolsNames[] = {"shared", "own"};

/// Structure of a receive side. Each core has its own queues, and one worker that polls them.
///
/// Source: Zhang et al., "FloWatcher-DPDK", IEEE TNSM 2019, section V-A: figures 5b (queues) and 5c (pools).
struct ReceiveShape {
  std::size_t queues = 1;  ///< per core
  Pools pools = Pools::shared;
  std::size_t cache = 256;      ///< buffers of a pool that a core caches; 0: none
  std::size_t burst = 32;       ///< most packets of a poll
  std::size_t cores = 1;        ///< cores that do the same at once
  std::size_t arrivals = 256;   ///< packets that come to a core between two rounds of polling
  std::size_t buffers = 16384;  ///< per core, in all its pools

  static constexpr std::size_t kMaxQueues = 64;
  static constexpr std::size_t kMaxQueuesInAll =
      512;                                       ///< over all rows and cores; DPDK has 2560 memory zones, 3 for each
  static constexpr std::size_t kMaxCache = 512;  ///< DPDK's limit
  static constexpr std::size_t kMaxBurst = 4096;
  static constexpr std::size_t kMaxArrivals = 4096;
  static constexpr std::size_t kMaxBuffers = std::size_t{1} << 20;

  /// Returns a core's buffers in the smallest pool that it uses.
  constexpr std::size_t buffers_of_pool() const noexcept { return pools == Pools::own ? buffers / queues : buffers; }

  /// Returns the most buffers of a core that are not in a pool: all packets are on one queue, and the cache is full.
  constexpr std::size_t buffers_out() const noexcept { return arrivals + cache + cache / 2; }
};

}  // namespace parshall::lab
