// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/random.hpp"

namespace parshall {

/// 64-bit hash under a secret seed. Without the seed, an attacker cannot choose keys that share a bucket.
///
/// Cost:   about 0.5 ns for 16 bytes with AES instructions, 1 ns without.
/// Source: three AES rounds under secret round keys (full diffusion needs two, Daemen and Rijmen), or, on CPUs without
///         AES, folded 64 x 64 multiplications as in wyhash.
class KeyedHash {
 public:
  explicit KeyedHash(std::uint64_t seed) noexcept {
    SplitMix64 random(seed);
    for (auto& word : secret_) word = random();
  }

  /// Hashes 16 bytes held in a register. They are passed by value: a key whose address escapes is reloaded from memory.
  std::uint64_t operator()(__m128i block) const noexcept {
#ifdef __AES__
    const __m128i state = _mm_aesenc_si128(_mm_xor_si128(block, secret(0)), secret(1));
    return static_cast<std::uint64_t>(
        _mm_cvtsi128_si64(_mm_aesenc_si128(_mm_aesenc_si128(state, secret(2)), secret(3))));
#else
    return portable(low(block), high(block));
#endif
  }

#if defined(__AVX512F__) && defined(__VAES__)
  /// Hashes four blocks at once; hash i is in the low half of lane i.
  [[gnu::always_inline]] __m512i operator()(__m512i blocks) const noexcept {
    const auto key = [this](std::size_t i) { return _mm512_broadcast_i32x4(secret(i)); };
    __m512i state = _mm512_aesenc_epi128(_mm512_xor_si512(blocks, key(0)), key(1));
    state = _mm512_aesenc_epi128(state, key(2));
    return _mm512_aesenc_epi128(state, key(3));
  }
#endif

  /// Hashes 16 bytes to the same value on every CPU, for names that other hosts compare.
  std::uint64_t portable(std::uint64_t low, std::uint64_t high) const noexcept {
    const std::uint64_t once = fold(low ^ secret_[0], high ^ secret_[1]);
    return fold(once ^ secret_[2], secret_[3] | 1);
  }

  /// Hashes three 16-byte blocks, chained.
  std::uint64_t operator()(__m128i first, __m128i second, __m128i third) const noexcept {
    return (*this)(absorb(absorb(absorb(secret(4), first), second), third));
  }

 private:
  __m128i secret(std::size_t i) const noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(secret_.data() + 2 * i));
  }
  __m128i absorb(__m128i state, __m128i block) const noexcept {
#ifdef __AES__
    return _mm_aesenc_si128(_mm_aesenc_si128(_mm_xor_si128(state, block), secret(5)), secret(6));
#else
    const __m128i mixed = _mm_xor_si128(state, block);
    const std::uint64_t a = fold(low(mixed) ^ secret_[10], high(mixed) ^ secret_[11]);
    const std::uint64_t b = fold(low(mixed) ^ secret_[12], high(mixed) ^ secret_[13]);
    return _mm_set_epi64x(static_cast<long long>(a), static_cast<long long>(b));
#endif
  }

  [[maybe_unused]] static std::uint64_t low(__m128i v) noexcept {
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(v));
  }
  [[maybe_unused]] static std::uint64_t high(__m128i v) noexcept {
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_srli_si128(v, 8)));
  }
  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  std::array<std::uint64_t, 14> secret_{};
};

}  // namespace parshall
