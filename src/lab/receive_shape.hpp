// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parshall::lab {

/// Whether all queues of all cores take their buffers from one pool, or each queue from one of its own.
enum class Pools : std::uint8_t { shared, own };
inline constexpr std::string_view kPoolsNames[] = {"shared", "own"};

/// How a receive side is made. Each core has its own queues, and one worker that polls them.
///
/// Source: Zhang et al., "FloWatcher-DPDK", IEEE TNSM 2019, section V-A: figures 5b (queues) and 5c (pools).
struct ReceiveShape {
  std::size_t queues = 1;  ///< of a core
  Pools pools = Pools::shared;
  std::size_t cache = 256;      ///< buffers of a pool that a core keeps to itself; 0: none
  std::size_t burst = 32;       ///< packets that a poll takes at most
  std::size_t cores = 1;        ///< that do the same at once
  std::size_t arrivals = 256;   ///< packets that come to a core between two rounds of polling
  std::size_t buffers = 16384;  ///< of a core, in all its pools

  static constexpr std::size_t kMaxQueues = 64;
  static constexpr std::size_t kMaxQueuesInAll =
      512;                                       ///< of all rows and cores: DPDK has 2560 memory zones, 3 for each
  static constexpr std::size_t kMaxCache = 512;  ///< DPDK's own limit
  static constexpr std::size_t kMaxBurst = 4096;
  static constexpr std::size_t kMaxArrivals = 4096;
  static constexpr std::size_t kMaxBuffers = std::size_t{1} << 20;

  /// A core's, in the smallest pool that it draws on.
  constexpr std::size_t buffers_of_pool() const noexcept { return pools == Pools::own ? buffers / queues : buffers; }

  /// So many of a core's never are in a pool, at worst: all packets are on one queue, and the cache is at its fullest.
  constexpr std::size_t buffers_out() const noexcept { return arrivals + cache + cache / 2; }
};

}  // namespace parshall::lab
