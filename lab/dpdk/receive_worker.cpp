// SPDX-License-Identifier: Apache-2.0
#include "lab/dpdk/receive_worker.hpp"

#include <rte_mempool.h>
#include <rte_ring.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "lab/dpdk/environment.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kRefill = 32;       // buffers; the default rx_free_thresh of Intel's drivers
constexpr std::size_t kRounds = 1 << 10;  // rounds until the spread repeats

/// First line of a buffer.
struct FirstLine {
  std::uint64_t number;
  std::uint64_t touched;
};

/// Does the work of a round without any observation.
struct Unwatched {
  void arrived(std::span<void* const>) noexcept {}
  void received(FirstLine& line) noexcept { line.touched += line.number + 1; }
  auto polling(auto call) noexcept { return call(); }
  auto pool(auto call) noexcept { return call(); }
};

struct Audited : Unwatched {
  ReceiveAudit& audit;

  void arrived(std::span<void* const> buffers) {
    for (void* buffer : buffers) static_cast<FirstLine*>(buffer)->number = audit.arrived();
  }
  void received(FirstLine& line) noexcept { audit.received(line.number); }
};

/// Reads the cycle counter after all preceding and before all following instructions.
std::uint64_t cycles_between() noexcept {
  const std::uint64_t cycles = cpu_ticks_after();
  finish_instructions();
  return cycles;
}

/// Returns the cost of the clock: the median, since other costs are small against its spread.
std::uint64_t clock_cycles() noexcept {
  std::array<std::uint64_t, 1001> all;
  for (std::uint64_t& cycles : all) {
    const std::uint64_t start = cycles_between();
    cycles = cycles_between() - start;
  }
  std::ranges::nth_element(all, all.begin() + all.size() / 2);
  return all[all.size() / 2];
}

struct Timed : Unwatched {
  const std::uint64_t clock = clock_cycles();
  std::uint64_t polling_cycles = 0, pool_cycles = 0;

  auto polling(auto call) noexcept { return timed(polling_cycles, call); }
  auto pool(auto call) noexcept { return timed(pool_cycles, call); }

 private:
  auto timed(std::uint64_t& sum, auto call) noexcept {
    const std::uint64_t start = cycles_between();
    const auto result = call();
    const std::uint64_t cycles = cycles_between() - start;
    sum += cycles - std::min(cycles, clock);
    return result;
  }
};

}  // namespace

void ReceiveWorker::Free::operator()(rte_ring* ring) const noexcept { ::rte_ring_free(ring); }
void ReceiveWorker::Free::operator()(rte_mempool_cache* cache) const noexcept { ::rte_mempool_cache_free(cache); }

ReceiveWorker::ReceiveWorker(const ReceiveShape& shape, const BufferPools& pools, std::size_t core, std::uint64_t seed)
    : shape_(shape), queues_(shape.queues), burst_(std::max(shape.burst, kRefill)) {
  const auto slots = static_cast<unsigned>(std::bit_ceil(shape.arrivals + 1));
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    Queue& queue = queues_[i];
    queue.ring.reset(
        ::rte_ring_create(unique_name("queue").c_str(), slots, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ));
    if (!queue.ring) throw std::bad_alloc();
    queue.pool = pools.pool_of(core, i);
    const bool same = i != 0 && queue.pool == queues_[0].pool;
    queue.cache = same ? queues_[0].cache : make_cache(shape.cache);
  }
  spread(seed + core);
}

ReceiveWorker::~ReceiveWorker() = default;

rte_mempool_cache* ReceiveWorker::make_cache(std::size_t objects) {
  if (objects == 0) return nullptr;
  caches_.emplace_back(::rte_mempool_cache_create(static_cast<std::uint32_t>(objects), SOCKET_ID_ANY));
  if (!caches_.back()) throw std::bad_alloc();
  return caches_.back().get();
}

void ReceiveWorker::spread(std::uint64_t seed) {
  SplitMix64 random(seed);
  spread_.resize(kRounds * queues_.size());
  for (std::size_t round = 0; round < kRounds; ++round)
    for (std::size_t packet = 0; packet < shape_.arrivals; ++packet)
      ++spread_[round * queues_.size() + random.below(queues_.size())];
}

/// Returns how many packets were put on the queues.
template <class Watch>
std::size_t ReceiveWorker::arrive(Watch& watch) {
  std::size_t arrived = 0;
  const std::uint16_t* packets = &spread_[next_round_ * queues_.size()];
  next_round_ = (next_round_ + 1) % kRounds;
  for (const Queue& queue : queues_)
    for (std::size_t left = *packets++; left != 0;) {
      const auto count = static_cast<unsigned>(std::min(left, kRefill));
      left -= count;
      if (watch.pool([&] { return ::rte_mempool_generic_get(queue.pool, burst_.data(), count, queue.cache); }) != 0)
        continue;
      watch.arrived(std::span(burst_).first(count));
      arrived += ::rte_ring_sp_enqueue_bulk(queue.ring.get(), burst_.data(), count, nullptr);
    }
  return arrived;
}

/// Returns how many packets were taken.
template <class Watch>
std::size_t ReceiveWorker::poll_each_queue(Watch& watch) {
  std::size_t taken = 0;
  for (const Queue& queue : queues_) {
    const auto burst = static_cast<unsigned>(shape_.burst);
    const unsigned count =
        watch.polling([&] { return ::rte_ring_sc_dequeue_burst(queue.ring.get(), burst_.data(), burst, nullptr); });
    counts_.empty_polls += count == 0;
    if (count == 0) continue;
    for (void* buffer : std::span(burst_).first(count)) watch.received(*static_cast<FirstLine*>(buffer));
    watch.pool([&] {
      ::rte_mempool_generic_put(queue.pool, burst_.data(), count, queue.cache);
      return 0;
    });
    taken += count;
  }
  counts_.polls += queues_.size();
  return taken;
}

template <class Watch>
void ReceiveWorker::run_rounds(std::size_t packets, Watch& watch) {
  for (std::size_t done = 0; done < packets; done += shape_.arrivals) {
    counts_.sent += shape_.arrivals;
    const std::size_t arrived = arrive(watch);
    std::size_t received = 0, taken = 0;
    // If a packet is lost, a poll of all queues finds none at last.
    do {
      taken = poll_each_queue(watch);
      received += taken;
    } while (taken != 0 && received < arrived);
    counts_.received += received;
  }
}

void ReceiveWorker::run(std::size_t packets) noexcept {
  Unwatched unwatched;
  run_rounds(packets, unwatched);
}

void ReceiveWorker::run_audited(std::size_t packets, ReceiveAudit& audit) {
  Audited audited{{}, audit};
  run_rounds(packets, audited);
}

ReceiveCycles ReceiveWorker::run_timed(std::size_t packets) noexcept {
  const std::uint64_t before = counts_.received;
  Timed timed;
  run_rounds(packets, timed);
  const double received = std::max(1.0, static_cast<double>(counts_.received - before));
  return {.polling = static_cast<double>(timed.polling_cycles) / received,
          .pool = static_cast<double>(timed.pool_cycles) / received};
}

void ReceiveWorker::flush() noexcept {
  for (const Queue& queue : queues_)
    if (queue.cache != nullptr) ::rte_mempool_cache_flush(queue.cache, queue.pool);
}

}  // namespace parshall::lab
