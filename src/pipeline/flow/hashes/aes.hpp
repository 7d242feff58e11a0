// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/flow/hashes/hash_function.hpp"

namespace parshall {

/// The monitor's default keyed hash: FlowIdentity::hash() of the key without the fields that are not in the input.
template <HashInput kInput>
void hash_keyed(const KeyedHash& secret, KeySpan keys, std::span<std::uint64_t> words) noexcept {
  constexpr std::uint64_t kNames = kInput == HashInput::five_tuple   ? (1ull << 48) - 1
                                   : kInput == HashInput::with_ports ? (1ull << 48) - 1 - (0xFFull << 32)
                                                                     : 0xFFull << 40;
  const KeyedHash hash = secret;
  const __m128i mask = _mm_set_epi64x(-1, kNames);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto* const key = reinterpret_cast<const __m128i*>(keys[i]);
    const __m128i head = _mm_loadu_si128(key);
    words[i] = KeySpan::is_ipv6(keys[i])
                   ? hash(_mm_and_si128(head, mask), _mm_loadu_si128(key + 1), _mm_loadl_epi64(key + 2))
                   : hash(_mm_and_si128(head, mask));
  }
}

inline constexpr HashBatches kKeyedBatches{hash_keyed<HashInput::addresses>, hash_keyed<HashInput::with_ports>,
                                           hash_keyed<HashInput::five_tuple>};

}  // namespace parshall
