// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "pipeline/flow/hashes/input.hpp"

namespace parshall {

/// Adds or XORs the input's 32-bit words, the last one padded with zeros. Cheap, but a poor hash: all pairs of
/// addresses with equal sums get the same word, as do both directions of a conversation.
///
/// Source: ADD and XOR of the comparison in FloWatcher-DPDK's paper, section V.
template <class Fold>
struct Folding {
  [[gnu::always_inline]] static std::uint64_t of(std::span<const std::uint8_t> bytes) noexcept {
    std::uint32_t folded = 0;
    std::size_t at = 0;
    for (; at + 4 <= bytes.size(); at += 4)
      folded = Fold()(folded, __builtin_bswap32(load_word<std::uint32_t>(bytes.data() + at)));
    std::uint32_t tail = 0;
    for (unsigned shift = 24; at < bytes.size(); ++at, shift -= 8) tail |= std::uint32_t{bytes[at]} << shift;
    return Fold()(folded, tail);
  }
};
using Addition = Folding<std::plus<std::uint32_t>>;
using Xor = Folding<std::bit_xor<std::uint32_t>>;

}  // namespace parshall
