// SPDX-License-Identifier: Apache-2.0
#pragma once
#if defined(__x86_64__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // false alarms of GCC 12 in its own header
#include <immintrin.h>
#pragma GCC diagnostic pop
#elif defined(__aarch64__)
#ifndef __ARM_FEATURE_CRC32
#error "Parshall needs CRC instructions, as Armv8.1 has them: build for armv8-a+crc, armv8.2-a or above"
#endif
#include <arm_acle.h>
#include <arm_neon.h>
#else
#error \
    "Parshall runs on x86-64 and arm64: another CPU needs its own forms of the functions of this file and of clock.hpp"
#endif

#include <cstdint>
#include <cstring>

#if defined(__AES__) || defined(__ARM_FEATURE_AES)
#define PARSHALL_HAS_AES
#endif

/// Adds what the compiler's operators on vectors (& | ^ + - == > [i]) do not offer, for vectors of 16 bytes. Together
/// with clock.hpp, this is the only file that names instructions, except for the forms for AVX2 and AVX-512. Each of
/// those has a twin made of these functions.
namespace parshall::simd {

/// Sixteen bytes in a register, as two 64-bit words. Word 0 is the lower one, as in memory.
#if defined(__x86_64__)
using Bytes16 = __m128i;
#else
using Bytes16 [[gnu::vector_size(16), gnu::may_alias]] = long long;
#endif

[[gnu::always_inline]] inline Bytes16 words(std::uint64_t low, std::uint64_t high) noexcept {
  return Bytes16{static_cast<long long>(low), static_cast<long long>(high)};
}

/// Returns a vector with each element set to `value`, whose type is that of the element.
template <class Element>
[[gnu::always_inline]] inline Bytes16 all(Element value) noexcept {
  using Elements [[gnu::vector_size(16)]] = Element;
  return reinterpret_cast<Bytes16>(Elements{} + value);
}

/// Returns element i of a vector of such elements.
template <class Element>
[[gnu::always_inline]] inline Element element(Bytes16 of, unsigned i) noexcept {
  using Elements [[gnu::vector_size(16)]] = Element;
  return reinterpret_cast<Elements>(of)[i];
}
[[gnu::always_inline]] inline std::uint64_t low_word(Bytes16 of) noexcept { return element<std::uint64_t>(of, 0); }
[[gnu::always_inline]] inline std::uint64_t high_word(Bytes16 of) noexcept { return element<std::uint64_t>(of, 1); }

/// Compares elements of that type. Returns a vector in which all bits of equal elements are set.
template <class Element>
[[gnu::always_inline]] inline Bytes16 equal(Bytes16 a, Bytes16 b) noexcept {
  using Elements [[gnu::vector_size(16)]] = Element;
  return reinterpret_cast<Bytes16>(reinterpret_cast<Elements>(a) == reinterpret_cast<Elements>(b));
}

/// Subtracts 64-bit words, modulo 2^64.
[[gnu::always_inline]] inline Bytes16 difference64(Bytes16 a, Bytes16 b) noexcept {
  using Words [[gnu::vector_size(16)]] = std::uint64_t;
  return reinterpret_cast<Bytes16>(reinterpret_cast<Words>(a) - reinterpret_cast<Words>(b));
}

/// Reads and writes 16 bytes at any address.
[[gnu::always_inline]] inline Bytes16 load(const void* from) noexcept {
  Bytes16 bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}
[[gnu::always_inline]] inline void store(void* to, Bytes16 bytes) noexcept { std::memcpy(to, &bytes, sizeof bytes); }

/// Reads and writes the lower 8 bytes; the upper ones are 0 after a load.
[[gnu::always_inline]] inline Bytes16 load_low(const void* from) noexcept {
  std::uint64_t low;
  std::memcpy(&low, from, sizeof low);
  return words(low, 0);
}
[[gnu::always_inline]] inline void store_low(void* to, Bytes16 bytes) noexcept {
  const std::uint64_t low = low_word(bytes);
  std::memcpy(to, &low, sizeof low);
}

/// In an order for shuffled(): a byte that becomes 0.
inline constexpr char kZero = -1;
using Order [[gnu::vector_size(16)]] = char;

#if defined(__x86_64__)

/// Returns the bytes `of` at the places that `order` names.
[[gnu::always_inline]] inline Bytes16 shuffled(Bytes16 of, Order order) noexcept {
  return _mm_shuffle_epi8(of, reinterpret_cast<Bytes16>(order));
}

/// Returns the highest bit of each byte, or of each 16-bit, 32-bit or 64-bit word. Bit 0 is that of the lowest.
[[gnu::always_inline]] inline unsigned mask_of_bytes(Bytes16 of) noexcept {
  return static_cast<unsigned>(_mm_movemask_epi8(of));
}
[[gnu::always_inline]] inline unsigned mask_of_words16(Bytes16 of) noexcept {
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(of, Bytes16{})));
}
[[gnu::always_inline]] inline unsigned mask_of_words32(Bytes16 of) noexcept {
  return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(of)));
}
[[gnu::always_inline]] inline unsigned mask_of_words64(Bytes16 of) noexcept {
  return static_cast<unsigned>(_mm_movemask_pd(_mm_castsi128_pd(of)));
}

#ifdef PARSHALL_HAS_AES
/// Returns MixColumns(ShiftRows(SubBytes(state))) ^ key: a round of AES (FIPS 197).
[[gnu::always_inline]] inline Bytes16 aes_round(Bytes16 state, Bytes16 key) noexcept {
  return _mm_aesenc_si128(state, key);
}
#endif

/// Prefetches the cache line of `at`, which need not be valid memory.
///
/// Uses assembly because gcc drops calls to a function whose only effect is __builtin_prefetch().
[[gnu::always_inline]] inline void prefetch_line(const void* at) noexcept {
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(at)));
}

/// Removes the cache line of `at` from all caches. finish_flushes() waits until that is done.
inline void flush_line(const void* at) noexcept { _mm_clflush(at); }
inline void finish_flushes() noexcept { _mm_mfence(); }

/// Adds a byte, or a word in memory order, to a CRC-32C (RFC 3720, appendix B.4), neither inverted before nor after.
[[gnu::always_inline]] inline std::uint32_t crc32c(std::uint32_t crc, std::uint8_t byte) noexcept {
  return _mm_crc32_u8(crc, byte);
}
[[gnu::always_inline]] inline std::uint32_t crc32c(std::uint32_t crc, std::uint32_t word) noexcept {
  return _mm_crc32_u32(crc, word);
}
[[gnu::always_inline]] inline std::uint32_t crc32c(std::uint32_t crc, std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(_mm_crc32_u64(crc, word));
}

#else

[[gnu::always_inline]] inline Bytes16 shuffled(Bytes16 of, Order order) noexcept {
  return reinterpret_cast<Bytes16>(vqtbl1q_u8(reinterpret_cast<uint8x16_t>(of), reinterpret_cast<uint8x16_t>(order)));
}

[[gnu::always_inline]] inline unsigned mask_of_bytes(Bytes16 of) noexcept {
  const int8x16_t places = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
  const uint8x16_t bits = vshlq_u8(vshrq_n_u8(reinterpret_cast<uint8x16_t>(of), 7), places);
  return vaddv_u8(vget_low_u8(bits)) | static_cast<unsigned>(vaddv_u8(vget_high_u8(bits))) << 8;
}
[[gnu::always_inline]] inline unsigned mask_of_words16(Bytes16 of) noexcept {
  const int16x8_t places = {0, 1, 2, 3, 4, 5, 6, 7};
  return vaddvq_u16(vshlq_u16(vshrq_n_u16(reinterpret_cast<uint16x8_t>(of), 15), places));
}
[[gnu::always_inline]] inline unsigned mask_of_words32(Bytes16 of) noexcept {
  const int32x4_t places = {0, 1, 2, 3};
  return vaddvq_u32(vshlq_u32(vshrq_n_u32(reinterpret_cast<uint32x4_t>(of), 31), places));
}
[[gnu::always_inline]] inline unsigned mask_of_words64(Bytes16 of) noexcept {
  return static_cast<unsigned>(low_word(of) >> 63 | high_word(of) >> 63 << 1);
}

#ifdef PARSHALL_HAS_AES
[[gnu::always_inline]] inline Bytes16 aes_round(Bytes16 state, Bytes16 key) noexcept {
  return reinterpret_cast<Bytes16>(vaesmcq_u8(vaeseq_u8(reinterpret_cast<uint8x16_t>(state), vdupq_n_u8(0)))) ^ key;
}
#endif

[[gnu::always_inline]] inline void prefetch_line(const void* at) noexcept {
  asm volatile("prfm pldl1keep, %0" : : "Q"(*static_cast<const char*>(at)));
}

inline void flush_line(const void* at) noexcept { asm volatile("dc civac, %0" : : "r"(at) : "memory"); }
inline void finish_flushes() noexcept { asm volatile("dsb ish" : : : "memory"); }

[[gnu::always_inline]] inline std::uint32_t crc32c(std::uint32_t crc, std::uint8_t byte) noexcept {
  return __crc32cb(crc, byte);
}
[[gnu::always_inline]] inline std::uint32_t crc32c(std::uint32_t crc, std::uint32_t word) noexcept {
  return __crc32cw(crc, word);
}
[[gnu::always_inline]] inline std::uint32_t crc32c(std::uint32_t crc, std::uint64_t word) noexcept {
  return __crc32cd(crc, word);
}

#endif

}  // namespace parshall::simd
