// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>

#include <cstdint>

#include "pipeline/decode/facts.hpp"
#include "pipeline/flow/identity.hpp"

namespace parshall {

/// Bit i is set where `pair[i]` equals `probe`.
[[gnu::always_inline]] inline unsigned match_pair(const __m128i* pair, __m128i probe) noexcept {
#ifdef __AVX512VL__
  const __m256i both = _mm256_load_si256(reinterpret_cast<const __m256i*>(pair));
  const unsigned halves = _mm256_cmpeq_epi64_mask(both, _mm256_broadcastsi128_si256(probe));
  const unsigned both_halves = halves & halves >> 1;  // bits 0 and 2
  return (both_halves & 1) | (both_halves >> 1 & 2);
#else
  const __m128i first = _mm_xor_si128(probe, pair[0]), second = _mm_xor_si128(probe, pair[1]);
  return static_cast<unsigned>(_mm_testz_si128(first, first)) | static_cast<unsigned>(_mm_testz_si128(second, second))
                                                                    << 1;
#endif
}

/// One cache line of the exact table: two flows with their whole keys.
///
/// Shape: 64 bytes: two 16-byte key heads, two packed counters, two last-seen times. An IPv4 head is the key
///        itself; an IPv6 head has the key's hash for the addresses and is verified beside.
///        Updates never write the bytes that lookups read, so no store is forwarded into a wider load.
struct alignas(64) ExactLine {
  static constexpr unsigned kSlots = 2;
  static constexpr bool kExact = true;

  using Probe = __m128i;

  /// Never equal to an IPv6 head, so that one comparison settles IPv4.
  [[gnu::always_inline]] static Probe probe_ipv4(const PacketFacts& facts) noexcept {
    return FlowIdentity::load_head(facts.key);
  }

  static Probe probe(const PacketFacts& facts) noexcept {
    const __m128i head = FlowIdentity::load_head(facts.key);
    if (facts.key.ip_version == 4) return head;
    const __m128i marked = _mm_or_si128(head, _mm_cvtsi64_si128(0x80ll << 40));
    return _mm_insert_epi64(marked, static_cast<long long>(facts.hash), 1);
  }

  /// Bit i is set where slot i holds the probe.
  [[gnu::always_inline]] unsigned match(Probe probe) const noexcept { return match_pair(head, probe); }

  /// The version byte is 4 or 6 in every key, so that no key value stands for "empty".
  bool occupied(unsigned slot) const noexcept { return _mm_extract_epi16(head[slot], 2) >> 8 != 0; }

  void put(unsigned slot, Probe probe) noexcept { head[slot] = probe; }
  void clear(unsigned slot) noexcept { head[slot] = _mm_setzero_si128(); }

  __m128i head[kSlots];
  CountWord counts[kSlots];
  std::uint64_t last_ns[kSlots];
};
static_assert(sizeof(ExactLine) == 64);

/// One cache line of the fingerprint table: three flows, told apart by 32 bits of the keyed hash.
///
/// Shape: 64 bytes: three tags and a word of occupied bits, three packed counters, three last-seen times.
/// Error: flows whose tag and line agree are counted as one; Session prints the expected number.
struct alignas(64) FingerprintLine {
  static constexpr unsigned kSlots = 3;
  static constexpr bool kExact = false;

  using Probe = std::uint32_t;

  [[gnu::always_inline]] static Probe probe(const PacketFacts& facts) noexcept {
    return static_cast<std::uint32_t>(facts.hash);
  }
  [[gnu::always_inline]] static Probe probe_ipv4(const PacketFacts& facts) noexcept { return probe(facts); }

  [[gnu::always_inline]] unsigned match(Probe probe) const noexcept {
    const __m128i words = _mm_load_si128(reinterpret_cast<const __m128i*>(tag));
    const __m128i equal = _mm_cmpeq_epi32(words, _mm_set1_epi32(static_cast<int>(probe)));
    return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(equal))) & occupied_bits;
  }

  bool occupied(unsigned slot) const noexcept { return (occupied_bits >> slot & 1) != 0; }

  void put(unsigned slot, Probe probe) noexcept {
    tag[slot] = probe;
    occupied_bits |= 1u << slot;
  }
  void clear(unsigned slot) noexcept { occupied_bits &= ~(1u << slot); }

  std::uint32_t tag[kSlots];
  std::uint32_t occupied_bits;
  CountWord counts[kSlots];
  std::uint64_t last_ns[kSlots];
};
static_assert(sizeof(FingerprintLine) == 64);

}  // namespace parshall
