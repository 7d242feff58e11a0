// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "base/simd.hpp"
#include "pipeline/decode/facts.hpp"
#include "pipeline/flow/identity.hpp"

namespace parshall {

/// The first FlowKey::kHeadBytes of a key.
using KeyHead = std::array<std::uint64_t, 2>;

/// Cache line of the exact table: two flows with their whole keys.
///
/// Shape: 64 bytes: the low halves of two key heads, the high halves, two packed counters, two last-seen times. An IPv4
///        head is the whole key. An IPv6 head has the key's hash in place of the addresses, which are compared
///        separately. Updates never write the bytes that lookups read, so no store is forwarded into a wider load.
struct alignas(64) ExactLine {
  static constexpr unsigned kSlots = 2;
  static constexpr bool kExact = true;

  using Probe = simd::Bytes16;

  /// Returns a probe that never equals an IPv6 head, so that one comparison decides for IPv4.
  [[gnu::always_inline]] static Probe probe_ipv4(const PacketFacts& facts) noexcept {
    return FlowIdentity::load_head(facts.key);
  }

  static Probe probe(const PacketFacts& facts) noexcept {
    const simd::Bytes16 head = FlowIdentity::load_head(facts.key);
    if (facts.key.ip_version == 4) return head;
    return simd::words(simd::low_word(head) | 0x80ull << 40, facts.hash);
  }

  /// Returns bit i set if slot i holds the probe.
  [[gnu::always_inline]] std::uint64_t match(Probe probe) const noexcept {
#ifdef __AVX2__
    const __m256i heads = _mm256_load_si256(reinterpret_cast<const __m256i*>(low));
    const __m256i halves = _mm256_permute4x64_epi64(_mm256_castsi128_si256(probe), 0b01'01'00'00);
    const __m256i equal = _mm256_cmpeq_epi64(heads, halves);
    const auto bits = static_cast<std::uint64_t>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
    return bits & bits >> 2;
#else
    using simd::all, simd::equal;
    return simd::mask_of_words64(equal<std::uint64_t>(simd::load(low), all(simd::low_word(probe))) &
                                 equal<std::uint64_t>(simd::load(high), all(simd::high_word(probe))));
#endif
  }

  KeyHead head(unsigned slot) const noexcept { return {low[slot], high[slot]}; }

  /// Returns whether the slot is in use. Every key has a version byte of 4 or 6, so no key looks like an empty slot.
  bool occupied(unsigned slot) const noexcept { return low[slot] != 0; }

  /// Returns bit i set if the last packet of the flow in slot i was more than quiet_ns (below 2^63) before now_ns.
  std::uint64_t quiet(std::uint64_t now_ns, std::uint64_t quiet_ns) const noexcept {
    const simd::Bytes16 old = simd::difference64(simd::all(now_ns), simd::load(last_ns)) > simd::all(quiet_ns);
    const simd::Bytes16 free = simd::equal<std::uint64_t>(simd::load(low), simd::Bytes16{});
    return simd::mask_of_words64(old & ~free);
  }

  void put(unsigned slot, const PacketFacts& facts) noexcept {
    const Probe whole = probe(facts);
    low[slot] = simd::low_word(whole);
    high[slot] = simd::high_word(whole);
  }
  void clear(unsigned slot) noexcept { low[slot] = 0; }

  std::uint64_t low[kSlots], high[kSlots];
  CountWord counts[kSlots];
  std::uint64_t last_ns[kSlots];
};
static_assert(sizeof(ExactLine) == 64);

/// Cache line of the fingerprint table: three flows, distinguished by 32 bits of the keyed hash.
///
/// Shape: 64 bytes: three tags and a word of occupied bits, three packed counters, three last-seen times.
/// Error: flows with the same tag and line are counted as one; Session prints the expected number.
struct alignas(64) FingerprintLine {
  static constexpr unsigned kSlots = 3;
  static constexpr bool kExact = false;

  using Probe = std::uint32_t;

  [[gnu::always_inline]] static Probe probe(const PacketFacts& facts) noexcept {
    return static_cast<std::uint32_t>(facts.hash);
  }
  [[gnu::always_inline]] static Probe probe_ipv4(const PacketFacts& facts) noexcept { return probe(facts); }

  [[gnu::always_inline]] std::uint64_t match(Probe probe) const noexcept {
    return simd::mask_of_words32(simd::equal<std::uint32_t>(simd::load(this), simd::all(probe))) & occupied_bits;
  }

  bool occupied(unsigned slot) const noexcept { return (occupied_bits >> slot & 1) != 0; }

  /// Returns bit i set if the last packet of the flow in slot i was more than quiet_ns (below 2^63) before now_ns.
  std::uint64_t quiet(std::uint64_t now_ns, std::uint64_t quiet_ns) const noexcept {
    std::uint64_t old = 0;
    for (unsigned i = 0; i < kSlots; ++i)
      old |= std::uint64_t{static_cast<std::int64_t>(now_ns - last_ns[i]) > static_cast<std::int64_t>(quiet_ns)} << i;
    return old & occupied_bits;
  }

  void put(unsigned slot, const PacketFacts& facts) noexcept {
    tag[slot] = probe(facts);
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
