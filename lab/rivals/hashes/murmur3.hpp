// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>

#include "pipeline/flow/hashes/input.hpp"

namespace parshall {

/// Source: Austin Appleby, MurmurHash3, the 32-bit variant for x86 (public domain).
struct Murmur3 {
  [[gnu::always_inline]] static std::uint64_t of(std::span<const std::uint8_t> bytes) noexcept {
    return seeded(bytes, 0);
  }

  [[gnu::always_inline]] static std::uint32_t seeded(std::span<const std::uint8_t> bytes, std::uint32_t seed) noexcept {
    std::uint32_t hash = seed;
    std::size_t at = 0;
    for (; at + 4 <= bytes.size(); at += 4) {
      hash ^= spread(load_word<std::uint32_t>(bytes.data() + at));
      hash = std::rotl(hash, 13) * 5 + 0xE654'6B64;
    }
    std::uint32_t tail = 0;
    for (std::size_t i = bytes.size(); i > at; --i) tail = tail << 8 | bytes[i - 1];
    hash ^= spread(tail);
    hash ^= static_cast<std::uint32_t>(bytes.size());
    hash = (hash ^ hash >> 16) * 0x85EB'CA6B;
    hash = (hash ^ hash >> 13) * 0xC2B2'AE35;
    return hash ^ hash >> 16;
  }

 private:
  static std::uint32_t spread(std::uint32_t word) noexcept { return std::rotl(word * 0xCC9E'2D51, 15) * 0x1B87'3593; }
};

}  // namespace parshall
