// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/decode/fast_path.hpp"

namespace parshall {

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VBMI__) && \
    defined(__VAES__)
#define PARSHALL_FAST_GROUP

/// Fields of eight packets read by decode_fast_group(), one vector per field.
struct FastGroup {
  __m512i key_heads[2];  ///< for packets 0 to 3 and 4 to 7
  __m512i counts;
  __m512i time_ns;
};

/// Does what decode_fast() does for eight packets at once. Returns false, with `group` unspecified, if one of them is
/// not a common packet.
///
/// Cost: 3.8 ns to poll, decode and hash a packet in cache, against 6.1 ns one at a time.
[[gnu::always_inline]] inline bool decode_fast_group(const RawPacket* packets, FastGroup& group) noexcept {
  static_assert(sizeof(RawPacket) == 32 && offsetof(RawPacket, time_ns) == 8 &&
                offsetof(RawPacket, captured_bytes) == 16 && offsetof(RawPacket, wire_bytes) == 20 &&
                offsetof(RawPacket, link_type) == 28);
  const auto load_pair = [](const void* low, const void* high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(static_cast<const __m256i*>(low))),
                              _mm256_loadu_si256(static_cast<const __m256i*>(high)), 1);
  };
  // Takes word `a` of four packets with four words each, then word `b` of all.
  const auto words = [](__m512i first, __m512i second, long long a, long long b) {
    const __m512i order = _mm512_setr_epi64(a, a + 4, a + 8, a + 12, b, b + 4, b + 8, b + 12);
    return _mm512_permutex2var_epi64(first, order, second);
  };
  const auto lower_halves = [](__m512i a, __m512i b) { return _mm512_shuffle_i64x2(a, b, 0b01'00'01'00); };
  const auto upper_halves = [](__m512i a, __m512i b) { return _mm512_shuffle_i64x2(a, b, 0b11'10'11'10); };
  const auto all = [](std::uint64_t value) { return _mm512_set1_epi64(static_cast<long long>(value)); };

  const __m512i p01 = _mm512_loadu_si512(packets), p23 = _mm512_loadu_si512(packets + 2);
  const __m512i p45 = _mm512_loadu_si512(packets + 4), p67 = _mm512_loadu_si512(packets + 6);
  const __m512i descriptor[2] = {words(p01, p23, 1, 2), words(p45, p67, 1, 2)};
  group.time_ns = lower_halves(descriptor[0], descriptor[1]);
  const __m512i lengths = upper_halves(descriptor[0], descriptor[1]);  // captured, wire
  const __m512i link = lower_halves(words(p01, p23, 3, 3), words(p45, p67, 3, 3));
  __mmask8 common = _mm512_cmpeq_epi64_mask(_mm512_and_si512(link, all(0xFFFFull << 32)), all(1ull << 32));
  common = _mm512_mask_cmpge_epu64_mask(common, _mm512_and_si512(lengths, all(0xFFFF'FFFF)), all(kFastPathBytes));
  if (common != 0xFF) [[unlikely]]
    return false;

  std::uint32_t unusual = 0;
  for (std::size_t i = 0; i < kGroup; ++i) unusual |= load_unaligned<std::uint32_t>(packets[i].data + 12) ^ 0x450008;
  constexpr std::size_t kFrom = 16;  // Total Length, ..., TCP flags
  const auto headers = [&](std::size_t i) { return load_pair(packets[i].data + kFrom, packets[i + 1].data + kFrom); };
  const __m512i h01 = headers(0), h23 = headers(2), h45 = headers(4), h67 = headers(6);

  const __m512i ends[2] = {words(h01, h23, 0, 3), words(h45, h67, 0, 3)};
  const __m512i starts = lower_halves(ends[0], ends[1]);     // Total Length, id, flags + fragment offset, TTL, protocol
  const __m512i tcp_words = upper_halves(ends[0], ends[1]);  // ..., TCP flags
  const __m512i kind = _mm512_and_si512(starts, all(0xFF00'FF3F'0000'0000));
  const __mmask8 tcp = _mm512_cmpeq_epi64_mask(kind, all(6ull << 56));
  const __mmask8 udp = _mm512_cmpeq_epi64_mask(kind, all(17ull << 56));
  const auto shuffled = [](__m512i v, __m128i order) { return _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(order)); };
  const __m512i ip_bytes = shuffled(starts, _mm_setr_epi8(1, 0, -1, -1, -1, -1, -1, -1, 9, 8, -1, -1, -1, -1, -1, -1));
  const __m512i flag_words =
      shuffled(tcp_words, _mm_setr_epi8(7, 6, -1, -1, -1, -1, -1, -1, 15, 14, -1, -1, -1, -1, -1, -1));
  const __m512i extra_bytes = _mm512_sub_epi64(_mm512_srli_epi64(lengths, 32), ip_bytes);
  common = static_cast<__mmask8>(tcp | udp);
  common = _mm512_mask_cmpge_epu64_mask(
      common, ip_bytes,
      _mm512_mask_blend_epi64(tcp, all(kFastProtocols[17].least_ip_bytes), all(kFastProtocols[6].least_ip_bytes)));
  common = _mm512_mask_cmple_epu64_mask(common, extra_bytes, all(CountWord::kMaxExtraBytes));
  if (common != 0xFF || (unusual & 0xFFFFFF) != 0) [[unlikely]]
    return false;

  const __m512i lengths_word = _mm512_or_si512(_mm512_slli_epi64(extra_bytes, CountWord::kExtraShift),
                                               _mm512_slli_epi64(ip_bytes, CountWord::kIpShift));
  const __m512i flags = _mm512_maskz_and_epi64(tcp, flag_words, all(CountWord::kFlagMask));
  group.counts = _mm512_or_si512(_mm512_or_si512(lengths_word, flags), all(CountWord::kOnePacket));

  // Ports, protocol, zero, addresses; for the pair's second packet, 32 bytes further on.
  const __m256i order = _mm256_setr_epi8(18, 19, 20, 21, 7, -1, -1, -1, 10, 11, 12, 13, 14, 15, 16, 17,  //
                                         50, 51, 52, 53, 39, -1, -1, -1, 42, 43, 44, 45, 46, 47, 48, 49);
  constexpr std::uint32_t kKept = 0xFF1F'FF1F;
  const auto keys = [&](__m512i first, __m512i second) {
    const __m512i both = _mm512_broadcast_i64x4(order);
    const __m512i low = _mm512_maskz_permutexvar_epi8(kKept, both, first);
    const __m512i heads = _mm512_mask_permutexvar_epi8(low, std::uint64_t{kKept} << 32, both, second);
    return _mm512_or_si512(heads, _mm512_maskz_set1_epi64(0b0101'0101, 4ll << 40));
  };
  group.key_heads[0] = keys(h01, h23);
  group.key_heads[1] = keys(h45, h67);
  return true;
}

#endif

}  // namespace parshall
