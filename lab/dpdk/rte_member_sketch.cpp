// SPDX-License-Identifier: Apache-2.0
#include "lab/dpdk/rte_member_sketch.hpp"

#include <rte_member.h>
#include <rte_memory.h>
#include <rte_random.h>

#include <algorithm>
#include <bit>
#include <new>

#include "lab/dpdk/environment.hpp"
#include "lab/dpdk/rte_hash_index.hpp"

namespace parshall::lab {

namespace {

/// Returns the keys to request. The ring of free keys has the next power of two as its size, and holds one fewer: DPDK
/// 22.11 refuses the last key if the number is a power of two.
std::uint32_t listed(RteMemberSize size) noexcept {
  const std::size_t keys = std::max<std::size_t>(3, size.listed);
  return static_cast<std::uint32_t>(keys + std::has_single_bit(keys));
}

}  // namespace

bool RteMemberSketch::available() noexcept { return true; }

RteMemberSketch::RteMemberSketch(RteMemberSize size, std::size_t key_bytes, std::uint64_t seed) {
  start_environment();
  ::rte_srand(seed);
  const std::string name = unique_name("sketch");
  rte_member_parameters parameters{};
  parameters.name = name.c_str();
  parameters.type = RTE_MEMBER_TYPE_SKETCH;
  parameters.num_keys = listed(size);
  parameters.key_len = static_cast<std::uint32_t>(key_bytes);
  parameters.prim_hash_seed = static_cast<std::uint32_t>(seed);
  parameters.sec_hash_seed = static_cast<std::uint32_t>(~seed);
  // DPDK makes 4 / error_rate / sample_rate columns, rounded down.
  parameters.error_rate = static_cast<float>(4 / (static_cast<double>(size.columns | 1) + 0.5) / size.sample_share);
  parameters.sample_rate = static_cast<float>(size.sample_share);
  parameters.top_k = listed(size);
  parameters.socket_id = SOCKET_ID_ANY;
  sketch_ = ::rte_member_create(&parameters);
  if (sketch_ == nullptr) throw std::bad_alloc();
}

RteMemberSketch::~RteMemberSketch() { ::rte_member_free(sketch_); }

void RteMemberSketch::add(std::span<const void* const> keys) noexcept {
  for (const void* key : keys) ::rte_member_add(sketch_, key, 1);
}

std::uint64_t RteMemberSketch::estimate(const void* key) const noexcept {
  std::uint64_t packets = 0;
  ::rte_member_query_count(sketch_, key, &packets);
  return packets;
}

/// Estimates memory: the counters; for each listed key its bytes, a heap node and a report node; and an index of the
/// keys.
std::size_t RteMemberSketch::memory_bytes(RteMemberSize size, std::size_t key_bytes) noexcept {
  constexpr std::size_t kRows = 5, kNode = 2 * (sizeof(void*) + sizeof(std::uint64_t));
  return kRows * (size.columns | 1) * sizeof(std::uint64_t) + size.listed * (key_bytes + kNode) +
         RteHashIndex::memory_bytes(2 * size.listed, key_bytes);
}

}  // namespace parshall::lab
