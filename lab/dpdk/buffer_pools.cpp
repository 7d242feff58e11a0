// SPDX-License-Identifier: Apache-2.0
#include "lab/dpdk/buffer_pools.hpp"

#include <rte_mempool.h>

#include <algorithm>
#include <new>

#include "base/random.hpp"
#include "lab/dpdk/environment.hpp"

namespace parshall::lab {
namespace {

static_assert(ReceiveShape::kMaxCache == RTE_MEMPOOL_CACHE_MAX_SIZE);

constexpr unsigned kBufferBytes = 128 + 128 + 2048;
// No device reads the buffers, so their physical addresses are not needed, and pages may end between buffers without a
// gap.
constexpr unsigned kFlags = RTE_MEMPOOL_F_NO_IOVA_CONTIG;

std::size_t pools_of(const ReceiveShape& shape) noexcept {
  return shape.pools == Pools::shared ? 1 : shape.cores * shape.queues;
}

/// Returns the buffers of a pool, for all cores that share it.
std::size_t buffers_each(const ReceiveShape& shape) noexcept {
  return shape.pools == Pools::shared ? shape.cores * shape.buffers : shape.buffers_of_pool();
}

/// Returns the bytes of a pool, including a line for alignment.
std::size_t bytes_each(const ReceiveShape& shape) noexcept {
  return buffers_each(shape) * ::rte_mempool_calc_obj_size(kBufferBytes, kFlags, nullptr) + RTE_MEMPOOL_ALIGN;
}

/// Takes all buffers until the pool is empty, since rte_mempool_avail_count() would hide surplus ones.
std::vector<void*> take_all(rte_mempool* pool) {
  std::vector<void*> buffers;
  for (void* buffer = nullptr; ::rte_mempool_generic_get(pool, &buffer, 1, nullptr) == 0;) buffers.push_back(buffer);
  return buffers;
}

void give_back(rte_mempool* pool, std::span<void* const> buffers) {
  ::rte_mempool_generic_put(pool, buffers.data(), static_cast<unsigned>(buffers.size()), nullptr);
}

PoolStock stock_of(rte_mempool* pool) {
  std::vector<void*> buffers = take_all(pool);
  give_back(pool, buffers);
  PoolStock stock{.made = pool->size, .back = buffers.size(), .own = 0};
  std::ranges::sort(buffers);
  const auto end = std::unique(buffers.begin(), buffers.end());
  stock.own = static_cast<std::size_t>(
      std::count_if(buffers.begin(), end, [&](void* buffer) { return ::rte_mempool_from_obj(buffer) == pool; }));
  return stock;
}

}  // namespace

void BufferPools::Free::operator()(rte_mempool* pool) const noexcept { ::rte_mempool_free(pool); }

bool BufferPools::available() noexcept { return true; }

BufferPools::BufferPools(const ReceiveShape& shape, std::uint64_t seed) : shape_(shape) {
  start_environment();
  memory_ = HugeBuffer<std::uint8_t>(pools_of(shape) * bytes_each(shape));
  memory_.populate();
  for (std::size_t i = 0; i < pools_of(shape); ++i)
    pools_.push_back(make(buffers_each(shape), {memory_.data() + i * bytes_each(shape), bytes_each(shape)}, seed + i));
}

BufferPools::~BufferPools() = default;

BufferPools::Pool BufferPools::make(std::size_t buffers, std::span<std::uint8_t> memory, std::uint64_t seed) {
  const auto count = static_cast<unsigned>(buffers);
  Pool pool(::rte_mempool_create_empty(unique_name("pool").c_str(), count, kBufferBytes, 0, 0, SOCKET_ID_ANY, kFlags));
  if (!pool || ::rte_mempool_set_ops_byname(pool.get(), "ring_mp_mc", nullptr) != 0 ||
      ::rte_mempool_populate_iova(pool.get(), reinterpret_cast<char*>(memory.data()), RTE_BAD_IOVA, memory.size(),
                                  nullptr, nullptr) != static_cast<int>(count))
    throw std::bad_alloc();
  std::vector<void*> order = take_all(pool.get());
  std::shuffle(order.begin(), order.end(), SplitMix64(seed));
  give_back(pool.get(), order);
  return pool;
}

rte_mempool* BufferPools::pool_of(std::size_t core, std::size_t queue) const noexcept {
  return pools_[shape_.pools == Pools::shared ? 0 : core * shape_.queues + queue].get();
}

std::vector<PoolStock> BufferPools::stock() const {
  std::vector<PoolStock> all;
  for (const Pool& pool : pools_) all.push_back(stock_of(pool.get()));
  return all;
}

std::size_t BufferPools::memory_bytes(const ReceiveShape& shape) noexcept {
  return pools_of(shape) * (bytes_each(shape) + 2 * buffers_each(shape) * sizeof(void*));
}

}  // namespace parshall::lab
