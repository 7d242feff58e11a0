// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lab/dpdk/buffer_pools.hpp"
#include "lab/receive_audit.hpp"
#include "lab/receive_shape.hpp"

struct rte_mempool_cache;
struct rte_ring;

namespace parshall::lab {

/// What a worker did so far.
struct ReceiveCounts {
  std::uint64_t sent = 0;      ///< packets that should have come
  std::uint64_t received = 0;  ///< packets
  std::uint64_t polls = 0, empty_polls = 0;
};

/// Cycles of the time stamp counter, per packet. Each call is timed alone, and nothing overlaps with it as it does when
/// nobody looks: together they may take longer than the whole.
struct ReceiveCycles {
  double polling = 0;  ///< taking packets from the queues, empty polls included
  double pool = 0;     ///< getting a buffer and putting it back
};

/// The receive side of one core: queues of a device (rte_ring, one producer and one consumer) and the worker that polls
/// them.
///
/// A round: `arrivals` packets come, spread over the queues at random, as receive side scaling spreads flows. Each gets
/// a buffer of its queue's pool, in bursts of 32, as drivers refill a queue, and is put on its queue. The worker polls
/// the queues in turn, over and over, until all packets are taken and all queues were polled equally often; of each
/// buffer it reads and writes the first line; each poll's buffers go back together.
///
/// A core has a cache of its own (rte_mempool_cache) for each pool that it draws on.
class alignas(64) ReceiveWorker {
 public:
  /// Throws std::bad_alloc.
  ReceiveWorker(const ReceiveShape& shape, const BufferPools& pools, std::size_t core, std::uint64_t seed);
  ~ReceiveWorker();
  ReceiveWorker(const ReceiveWorker&) = delete;
  ReceiveWorker& operator=(const ReceiveWorker&) = delete;

  /// Whole rounds of at least so many packets in all, now and below.
  void run(std::size_t packets) noexcept;

  /// Likewise, with every packet numbered.
  void run_audited(std::size_t packets, ReceiveAudit& audit);

  /// Likewise, with a clock around each call of DPDK: slower, by what the clock takes, which the figures leave out.
  ReceiveCycles run_timed(std::size_t packets) noexcept;

  /// Gives what its caches have back to the pools.
  void flush() noexcept;

  const ReceiveCounts& counts() const noexcept { return counts_; }

 private:
  struct Free {
    void operator()(rte_ring* ring) const noexcept;
    void operator()(rte_mempool_cache* cache) const noexcept;
  };
  struct Queue {
    std::unique_ptr<rte_ring, Free> ring;
    rte_mempool* pool = nullptr;
    rte_mempool_cache* cache = nullptr;  ///< null: none
  };
  rte_mempool_cache* make_cache(std::size_t objects);
  void spread(std::uint64_t seed);

  template <class Watch>
  void run_rounds(std::size_t packets, Watch& watch);
  template <class Watch>
  std::size_t arrive(Watch& watch);
  template <class Watch>
  std::size_t poll_each_queue(Watch& watch);

  ReceiveShape shape_;
  std::vector<std::unique_ptr<rte_mempool_cache, Free>> caches_;
  std::vector<Queue> queues_;
  std::vector<std::uint16_t> spread_;  ///< packets for each queue, round by round
  std::size_t next_round_ = 0;
  std::vector<void*> burst_;
  ReceiveCounts counts_;
};

}  // namespace parshall::lab
