// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

struct rte_hash;

namespace parshall::lab {

/// DPDK's rte_hash, a cuckoo hash with eight-entry buckets, which numbers keys for use as array indices.
///
/// Cost:   one call for up to kBulk keys, which prefetches all their buckets first.
/// Full:   insert() reports it.
class RteHashIndex {
 public:
  using HashFunction = std::uint32_t (*)(const void* key, std::uint32_t bytes, std::uint32_t seed);
  static constexpr std::size_t kBulk = 64;

  static bool available() noexcept;  ///< false in a build without DPDK

  /// Starts DPDK unless it is running. Uses its own CRC as hash by default. Throws std::bad_alloc.
  RteHashIndex(std::size_t entries, std::size_t key_bytes, std::uint64_t seed, HashFunction function = nullptr);
  ~RteHashIndex();
  RteHashIndex(const RteHashIndex&) = delete;
  RteHashIndex& operator=(const RteHashIndex&) = delete;

  /// Returns a number for each of at most kBulk keys; negative for missing keys.
  void find(std::span<const void*> keys, std::span<std::int32_t> numbers) const noexcept;

  /// Returns the key's number, or a new one if it is missing; negative if there is no room.
  std::int32_t insert(const void* key) noexcept;

  std::size_t numbers() const noexcept { return numbers_; }  ///< all numbers are below this
  std::size_t size() const noexcept;
  static std::size_t memory_bytes(std::size_t entries, std::size_t key_bytes) noexcept;

 private:
  rte_hash* table_ = nullptr;
  std::size_t numbers_ = 0;
};

}  // namespace parshall::lab
