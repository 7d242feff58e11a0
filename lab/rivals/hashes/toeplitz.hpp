// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>

#include "lab/rivals/hashes/rss_key.hpp"
#include "pipeline/flow/hashes/input.hpp"

namespace parshall {

/// Contribution of each input byte to the hash, by position and value: the XOR, over its bits, of the 32 key bits that
/// start at the bit's position.
inline constexpr auto kToeplitzTable = [] {
  std::array<std::array<std::uint32_t, 256>, kRssBytes> table{};
  for (std::size_t place = 0; place < kRssBytes; ++place) {
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < 5; ++i) key = key << 8 | kRssKey[place + i];
    for (unsigned value = 1; value < 256; ++value) {
      const auto highest = static_cast<unsigned>(std::bit_width(value)) - 1;
      table[place][value] = table[place][value ^ 1u << highest] ^ static_cast<std::uint32_t>(key >> (highest + 1));
    }
  }
  return table;
}();

/// Computes the RSS hash of network cards with a table look-up for each byte. The table has 12 KB for IPv4, 36 KB for
/// IPv6.
///
/// Source: Microsoft, "RSS hashing functions", NDIS documentation.
struct Toeplitz {
  [[gnu::always_inline]] static std::uint64_t of(std::span<const std::uint8_t> bytes) noexcept {
    std::uint32_t hash = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) hash ^= kToeplitzTable[i][bytes[i]];
    return hash;
  }
};

}  // namespace parshall
