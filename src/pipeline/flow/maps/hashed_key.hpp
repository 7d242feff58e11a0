// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/flow/maps/map.hpp"

namespace parshall {

/// A key with its hash, so that an entry can move without hashing again.
template <MapKey K>
struct HashedKey {
  K key{};
  std::uint64_t hash = 0;

  bool present() const noexcept { return key.present(); }
  friend bool operator==(const HashedKey& a, const HashedKey& b) noexcept { return a.key == b.key; }
};

/// Hasher that returns the stored hash.
struct KeptHash {
  template <MapKey K>
  std::uint64_t operator()(const HashedKey<K>& key) const noexcept {
    return key.hash;
  }
};

}  // namespace parshall
