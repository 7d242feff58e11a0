// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/simd.hpp"
#include "pipeline/flow/hashes/input.hpp"

namespace parshall {

/// CRC-32C by the CPU's instruction. It is linear: which keys collide does not depend on a seed, and can be computed.
///
/// Source: Castagnoli's polynomial; RFC 3720, 12.1 and appendix B.4 (test vectors).
struct Crc32c {
  [[gnu::always_inline]] static std::uint64_t of(std::span<const std::uint8_t> bytes) noexcept {
    std::uint32_t crc = 0xFFFF'FFFF;
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) crc = simd::crc32c(crc, load_word<std::uint64_t>(bytes.data() + at));
    if (at + 4 <= bytes.size()) crc = simd::crc32c(crc, load_word<std::uint32_t>(bytes.data() + at)), at += 4;
    for (; at < bytes.size(); ++at) crc = simd::crc32c(crc, bytes[at]);
    return static_cast<std::uint32_t>(~crc);
  }
};

}  // namespace parshall
