// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/random.hpp"
#include "base/simd.hpp"

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
  std::uint64_t operator()(simd::Bytes16 block) const noexcept {
#ifdef PARSHALL_HAS_AES
    const simd::Bytes16 state = simd::aes_round(block ^ secret(0), secret(1));
    return simd::low_word(simd::aes_round(simd::aes_round(state, secret(2)), secret(3)));
#else
    return portable(simd::low_word(block), simd::high_word(block));
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
  std::uint64_t operator()(simd::Bytes16 first, simd::Bytes16 second, simd::Bytes16 third) const noexcept {
    return (*this)(absorb(absorb(absorb(secret(4), first), second), third));
  }

 private:
  simd::Bytes16 secret(std::size_t i) const noexcept { return simd::load(secret_.data() + 2 * i); }
  simd::Bytes16 absorb(simd::Bytes16 state, simd::Bytes16 block) const noexcept {
#ifdef PARSHALL_HAS_AES
    return simd::aes_round(simd::aes_round(state ^ block, secret(5)), secret(6));
#else
    const std::uint64_t low = simd::low_word(state ^ block), high = simd::high_word(state ^ block);
    return simd::words(fold(low ^ secret_[12], high ^ secret_[13]), fold(low ^ secret_[10], high ^ secret_[11]));
#endif
  }

  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  std::array<std::uint64_t, 14> secret_{};
};

}  // namespace parshall
