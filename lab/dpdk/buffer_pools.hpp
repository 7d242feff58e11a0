// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/huge_buffer.hpp"
#include "lab/receive/audit.hpp"
#include "lab/receive/shape.hpp"

struct rte_mempool;

namespace parshall::lab {

/// DPDK's packet buffer pools of a receive side: rte_mempool over a ring for several producers and consumers, the
/// default of rte_pktmbuf_pool_create().
///
/// Shape:  one pool for all, or one for each queue of each core. A buffer has the 2304 bytes of a packet buffer with 2
///         KB of room (128 for rte_mbuf, 128 of headroom) and DPDK's header of 64. All pools lie in one piece of
///         memory, on huge pages if the kernel grants them. They give their buffers in random order, as pools after
///         long use do.
class BufferPools {
 public:
  static bool available() noexcept;  ///< false in a build without DPDK

  /// Starts DPDK unless it is running. Throws std::bad_alloc.
  BufferPools(const ReceiveShape& shape, std::uint64_t seed);
  ~BufferPools();
  BufferPools(const BufferPools&) = delete;
  BufferPools& operator=(const BufferPools&) = delete;

  /// Returns the pool of a queue's buffers.
  rte_mempool* pool_of(std::size_t core, std::size_t queue) const noexcept;

  /// Returns the stock of each pool. No buffer may be in use or in a cache.
  std::vector<PoolStock> stock() const;

  static std::size_t memory_bytes(const ReceiveShape& shape) noexcept;

 private:
  struct Free {
    void operator()(rte_mempool* pool) const noexcept;
  };
  using Pool = std::unique_ptr<rte_mempool, Free>;
  static Pool make(std::size_t buffers, std::span<std::uint8_t> memory, std::uint64_t seed);

  ReceiveShape shape_;
  HugeBuffer<std::uint8_t> memory_;  // outlives the pools in it
  std::vector<Pool> pools_;
};

}  // namespace parshall::lab
