// SPDX-License-Identifier: Apache-2.0
// A build without DPDK: nothing of it is available.
#include <new>

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

bool RteMemberSketch::available() noexcept { return false; }
RteMemberSketch::RteMemberSketch(RteMemberSize, std::size_t, std::uint64_t) { throw std::bad_alloc(); }
RteMemberSketch::~RteMemberSketch() = default;
void RteMemberSketch::add(std::span<const void* const>) noexcept {}
std::uint64_t RteMemberSketch::estimate(const void*) const noexcept { return 0; }
std::size_t RteMemberSketch::memory_bytes(RteMemberSize, std::size_t) noexcept { return 0; }

}  // namespace parshall::lab
