// SPDX-License-Identifier: Apache-2.0
// A build without DPDK, where nothing of it is available.
#include <new>

#include "lab/dpdk/receive_worker.hpp"
#include "lab/dpdk/rte_hash_index.hpp"
#include "lab/dpdk/rte_member_sketch.hpp"

namespace parshall::lab {

bool RteHashIndex::available() noexcept { return false; }
RteHashIndex::RteHashIndex(std::size_t, std::size_t, std::uint64_t, HashFunction) { throw std::bad_alloc(); }
RteHashIndex::~RteHashIndex() = default;
void RteHashIndex::find(std::span<const void*>, std::span<std::int32_t>) const noexcept {}
std::int32_t RteHashIndex::insert(const void*) noexcept { return -1; }
std::size_t RteHashIndex::size() const noexcept { return 0; }
std::size_t RteHashIndex::memory_bytes(std::size_t, std::size_t) noexcept { return 0; }

bool BufferPools::available() noexcept { return false; }
BufferPools::BufferPools(const ReceiveShape& shape, std::uint64_t) : shape_(shape) { throw std::bad_alloc(); }
BufferPools::~BufferPools() = default;
void BufferPools::Free::operator()(rte_mempool*) const noexcept {}
std::vector<PoolStock> BufferPools::stock() const { return {}; }
std::size_t BufferPools::memory_bytes(const ReceiveShape&) noexcept { return 0; }

ReceiveWorker::ReceiveWorker(const ReceiveShape& shape, const BufferPools&, std::size_t, std::uint64_t)
    : shape_(shape) {
  throw std::bad_alloc();
}
ReceiveWorker::~ReceiveWorker() = default;
void ReceiveWorker::Free::operator()(rte_ring*) const noexcept {}
void ReceiveWorker::Free::operator()(rte_mempool_cache*) const noexcept {}
void ReceiveWorker::run(std::size_t) noexcept {}
void ReceiveWorker::run_audited(std::size_t, ReceiveAudit&) {}
ReceiveCycles ReceiveWorker::run_timed(std::size_t) noexcept { return {}; }
void ReceiveWorker::flush() noexcept {}

bool RteMemberSketch::available() noexcept { return false; }
RteMemberSketch::RteMemberSketch(RteMemberSize, std::size_t, std::uint64_t) { throw std::bad_alloc(); }
RteMemberSketch::~RteMemberSketch() = default;
void RteMemberSketch::add(std::span<const void* const>) noexcept {}
std::uint64_t RteMemberSketch::estimate(const void*) const noexcept { return 0; }
std::size_t RteMemberSketch::memory_bytes(RteMemberSize, std::size_t) noexcept { return 0; }

}  // namespace parshall::lab
