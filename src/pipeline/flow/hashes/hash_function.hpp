// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/keyed_hash.hpp"
#include "pipeline/flow/hashes/input.hpp"

namespace parshall {

/// Hashes each key into one word, as many words as keys; a 32-bit hash fills the low half. Only a keyed function uses
/// the secret. For the others, anyone can find keys that collide.
using HashBatch = void (*)(const KeyedHash& secret, KeySpan keys, std::span<std::uint64_t> words) noexcept;

/// Batch functions by HashInput; null for an unsupported input. All are null if this build or this CPU lacks the hash.
using HashBatches = std::array<HashBatch, kHashInputs>;

/// Hash function with its name for `--hash`.
struct HashFunction {
  std::string_view name;
  std::string_view help;
  unsigned bits;
  bool keyed;
  HashBatches batches;
  std::string_view same_as = {};  ///< another hash that computes the same words differently

  bool available() const noexcept { return batches[0] != nullptr; }

  /// Returns the function for this input, or for the largest part of it that is supported.
  HashBatch batch(HashInput input) const noexcept {
    auto i = static_cast<std::size_t>(input);
    while (i != 0 && batches[i] == nullptr) --i;
    return batches[i];
  }
  bool takes(HashInput input) const noexcept { return batches[static_cast<std::size_t>(input)] != nullptr; }
};

/// Batch function for a hash of bytes: `static std::uint64_t Hash::of(std::span<const std::uint8_t>)`, inlined for each
/// length.
template <class Hash, HashInput kInput>
void hash_bytes(const KeyedHash&, KeySpan keys, std::span<std::uint64_t> words) noexcept {
  // Stores the bytes of several IPv6 keys before loading the first. A load across two stores would otherwise wait for
  // both to reach the cache (XXH3: 12 ns a key instead of 4).
  constexpr std::size_t kAtOnce = 8;
  std::array<HashedBytes<kInput, true>, kAtOnce> ipv6;
  for (std::size_t i = 0; i < keys.size();) {
    std::size_t stored = 0;
    while (stored < kAtOnce && i + stored < keys.size() && KeySpan::is_ipv6(keys[i + stored])) {
      ipv6[stored] = HashedBytes<kInput, true>(keys[i + stored]);
      ++stored;
    }
    for (std::size_t k = 0; k < stored; ++k) words[i + k] = Hash::of(ipv6[k].bytes());
    i += stored;
    for (; i < keys.size() && !KeySpan::is_ipv6(keys[i]); ++i)
      words[i] = Hash::of(HashedBytes<kInput, false>(keys[i]).bytes());
  }
}

template <class Hash>
inline constexpr HashBatches kBytewise{hash_bytes<Hash, HashInput::addresses>, hash_bytes<Hash, HashInput::with_ports>,
                                       hash_bytes<Hash, HashInput::five_tuple>};

/// Batch functions for a hash that does not support the protocol.
template <class Hash>
inline constexpr HashBatches kBytewiseWithoutProtocol{hash_bytes<Hash, HashInput::addresses>,
                                                      hash_bytes<Hash, HashInput::with_ports>, nullptr};

}  // namespace parshall
