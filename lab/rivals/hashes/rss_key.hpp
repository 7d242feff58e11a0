// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace parshall {

/// Default key of network cards. It is public, so flows with the same hash can be constructed.
///
/// Source: Microsoft, "Verifying the RSS Hash Calculation", NDIS documentation.
inline constexpr std::array<std::uint8_t, 40> kRssKey{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                                      0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                                      0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                                      0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

/// Longest input that RSS hashes: two IPv6 addresses and two ports.
inline constexpr std::size_t kRssBytes = 36;
static_assert(kRssKey.size() == kRssBytes + sizeof(std::uint32_t));

}  // namespace parshall
