// SPDX-License-Identifier: Apache-2.0
#include "lab/dpdk/rte_hash_index.hpp"

#include <rte_hash.h>
#include <rte_hash_crc.h>

#include <bit>
#include <new>

#include "lab/dpdk/environment.hpp"

namespace parshall::lab {

bool RteHashIndex::available() noexcept { return true; }

RteHashIndex::RteHashIndex(std::size_t entries, std::size_t key_bytes, std::uint64_t seed, HashFunction function) {
  start_environment();
  const std::string name = unique_name("index");
  rte_hash_parameters parameters{};
  parameters.name = name.c_str();
  parameters.entries = static_cast<std::uint32_t>(entries);
  parameters.key_len = static_cast<std::uint32_t>(key_bytes);
  parameters.hash_func = function == nullptr ? rte_hash_crc : function;
  parameters.hash_func_init_val = static_cast<std::uint32_t>(seed);
  parameters.socket_id = SOCKET_ID_ANY;
  table_ = ::rte_hash_create(&parameters);
  if (table_ == nullptr) throw std::bad_alloc();
  numbers_ = static_cast<std::size_t>(::rte_hash_max_key_id(table_)) + 1;
}

RteHashIndex::~RteHashIndex() { ::rte_hash_free(table_); }

void RteHashIndex::find(std::span<const void*> keys, std::span<std::int32_t> numbers) const noexcept {
  ::rte_hash_lookup_bulk(table_, keys.data(), static_cast<std::uint32_t>(keys.size()), numbers.data());
}

std::int32_t RteHashIndex::insert(const void* key) noexcept { return ::rte_hash_add_key(table_, key); }

std::size_t RteHashIndex::size() const noexcept { return static_cast<std::size_t>(::rte_hash_count(table_)); }

/// Estimates memory: a cache line for each bucket of eight entries, stored keys with a 16-byte header, and a ring of
/// free numbers.
std::size_t RteHashIndex::memory_bytes(std::size_t entries, std::size_t key_bytes) noexcept {
  return std::bit_ceil(entries) / 8 * 64 + (entries + 1) * (16 + (key_bytes + 15) / 16 * 16) +
         std::bit_ceil(entries + 2) * sizeof(std::uint32_t);
}

}  // namespace parshall::lab
