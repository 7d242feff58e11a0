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

/// Hashes each key into one word, 32-bit hashes into its low half; as many words as keys. Only a keyed function looks
/// at the secret: of the others everybody knows which keys collide.
using HashBatch = void (*)(const KeyedHash& secret, KeySpan keys, std::span<std::uint64_t> words) noexcept;

/// A batch function for each HashInput, null for an input it has no place for. All null: not in this build, or not on
/// this CPU.
using HashBatches = std::array<HashBatch, kHashInputs>;

/// A hash by the name `--hash` knows it by.
struct HashFunction {
  std::string_view name;
  std::string_view help;
  unsigned bits;
  bool keyed;
  HashBatches batches;
  std::string_view same_as = {};  ///< the hash that gives the same words, computed in another way

  bool available() const noexcept { return batches[0] != nullptr; }

  /// For this input, or for the most of it that the function has a place for.
  HashBatch batch(HashInput input) const noexcept {
    auto i = static_cast<std::size_t>(input);
    while (i != 0 && batches[i] == nullptr) --i;
    return batches[i];
  }
  bool takes(HashInput input) const noexcept { return batches[static_cast<std::size_t>(input)] != nullptr; }
};

/// Of a function of bytes: `static std::uint64_t Hash::of(std::span<const std::uint8_t>)`, inlined for each length.
template <class Hash, HashInput kInput>
void hash_bytes(const KeyedHash&, KeySpan keys, std::span<std::uint64_t> words) noexcept {
  // The bytes of several IPv6 keys are stored before the first are loaded: a hash may load across two stores, and would
  // wait for both to reach the cache (XXH3: 12 ns a key instead of 4).
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

/// The same of one without a place for the protocol.
template <class Hash>
inline constexpr HashBatches kBytewiseWithoutProtocol{hash_bytes<Hash, HashInput::addresses>,
                                                      hash_bytes<Hash, HashInput::with_ports>, nullptr};

}  // namespace parshall
