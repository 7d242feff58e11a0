// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

struct rte_hash;

namespace parshall::lab {

/// DPDK's rte_hash, a cuckoo hash of eight-entry buckets: numbers for keys, to go by in arrays beside.
///
/// Cost: one call for up to kBulk keys, which asks for all their buckets before it looks at one.
/// Full: insert() says so.
class RteHashIndex {
 public:
  using HashFunction = std::uint32_t (*)(const void* key, std::uint32_t bytes, std::uint32_t seed);
  static constexpr std::size_t kBulk = 64;

  static bool available() noexcept;  ///< false in a build without DPDK

  /// Starts DPDK where nobody has. Its own CRC is the hash, unless one is given. Throws std::bad_alloc.
  RteHashIndex(std::size_t entries, std::size_t key_bytes, std::uint64_t seed, HashFunction function = nullptr);
  ~RteHashIndex();
  RteHashIndex(const RteHashIndex&) = delete;
  RteHashIndex& operator=(const RteHashIndex&) = delete;

  /// A number for each of at most kBulk keys; negative for those that are not there.
  void find(std::span<const void*> keys, std::span<std::int32_t> numbers) const noexcept;

  /// The key's number, a new one where there is none; negative where there is no room.
  std::int32_t insert(const void* key) noexcept;

  std::size_t numbers() const noexcept { return numbers_; }  ///< each is below
  std::size_t size() const noexcept;
  static std::size_t memory_bytes(std::size_t entries, std::size_t key_bytes) noexcept;

 private:
  rte_hash* table_ = nullptr;
  std::size_t numbers_ = 0;
};

}  // namespace parshall::lab
