// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lab/dpdk/buffer_pools.hpp"
#include "lab/receive/audit.hpp"
#include "lab/receive/shape.hpp"

struct rte_mempool_cache;
struct rte_ring;

namespace parshall::lab {

/// Counts of a worker so far.
struct ReceiveCounts {
  std::uint64_t sent = 0;      ///< packets that should have come
  std::uint64_t received = 0;  ///< packets
  std::uint64_t polls = 0, empty_polls = 0;
};

/// Time stamp counter cycles per packet. Each call is timed alone, so it cannot overlap with others as usual: the sum
/// may exceed the total.
struct ReceiveCycles {
  double polling = 0;  ///< taking packets from the queues, including empty polls
  double pool = 0;     ///< getting a buffer and returning it
};

/// Receive side of one core: queues of a device (rte_ring, one producer and one consumer) and the worker that polls
/// them.
///
/// In each round, `arrivals` packets come, spread over the queues at random, as receive side scaling spreads flows.
/// Each gets a buffer of its queue's pool, in bursts of 32 as drivers refill queues, and is put on its queue. The
/// worker polls the queues in rotation until all packets are taken and all queues were polled equally often. It reads
/// and writes the first line of each buffer, and returns the buffers of each poll together.
///
/// A core has its own cache (rte_mempool_cache) for each pool that it uses.
class alignas(64) ReceiveWorker {
 public:
  /// Throws std::bad_alloc.
  ReceiveWorker(const ReceiveShape& shape, const BufferPools& pools, std::size_t core, std::uint64_t seed);
  ~ReceiveWorker();
  ReceiveWorker(const ReceiveWorker&) = delete;
  ReceiveWorker& operator=(const ReceiveWorker&) = delete;

  /// Runs whole rounds of at least this many packets in total; this also holds for the functions below.
  void run(std::size_t packets) noexcept;

  /// Does the same with numbered packets.
  void run_audited(std::size_t packets, ReceiveAudit& audit);

  /// Does the same with a clock around each call of DPDK. This is slower by the cost of the clock, which the figures
  /// leave out.
  ReceiveCycles run_timed(std::size_t packets) noexcept;

  /// Returns the content of its caches to the pools.
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
    rte_mempool_cache* cache = nullptr;  ///< null: no cache
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
  std::vector<std::uint16_t> spread_;  ///< packets for each queue, by round
  std::size_t next_round_ = 0;
  std::vector<void*> burst_;
  ReceiveCounts counts_;
};

}  // namespace parshall::lab
