// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/simd.hpp"
#include "pipeline/flow/hashes/hash_function.hpp"

namespace parshall {

/// The monitor's default keyed hash: FlowIdentity::hash() of the key without the fields that are not in the input.
template <HashInput kInput>
void hash_keyed(const KeyedHash& secret, KeySpan keys, std::span<std::uint64_t> words) noexcept {
  constexpr std::uint64_t kNames = kInput == HashInput::five_tuple   ? (1ull << 48) - 1
                                   : kInput == HashInput::with_ports ? (1ull << 48) - 1 - (0xFFull << 32)
                                                                     : 0xFFull << 40;
  const KeyedHash hash = secret;
  const simd::Bytes16 mask = simd::words(kNames, ~0ull);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint8_t* const key = keys[i];
    const simd::Bytes16 head = simd::load(key) & mask;
    words[i] = KeySpan::is_ipv6(key) ? hash(head, simd::load(key + 16), simd::load_low(key + 32)) : hash(head);
  }
}

inline constexpr HashBatches kKeyedBatches{hash_keyed<HashInput::addresses>, hash_keyed<HashInput::with_ports>,
                                           hash_keyed<HashInput::five_tuple>};

}  // namespace parshall
