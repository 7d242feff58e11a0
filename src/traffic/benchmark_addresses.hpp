// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall {

/// Addresses reserved for tests of devices, by number. Frames go from the first half to the second.
///
/// Shape: hosts 0 .. kHosts - 1, without network and broadcast addresses; ports 0 .. kPorts - 1, without well-known
///        ones.
/// Source: RFC 2544, appendix C.2.2, RFC 6890: 198.18.0.0/15. RFC 5180, section 8: 2001:2::/48.
struct BenchmarkAddresses {
  static constexpr std::uint64_t kHosts = 65534, kPorts = 64512;
  static constexpr std::uint64_t kDynamicPorts = 16384;  ///< RFC 6335, section 6: ports without a meaning of their own
  static constexpr std::uint8_t kIpv6Source[8] = {0x20, 0x01, 0, 2, 0, 0, 0, 0};       ///< 2001:2:0:0::/64
  static constexpr std::uint8_t kIpv6Destination[8] = {0x20, 0x01, 0, 2, 0, 0, 0, 1};  ///< 2001:2:0:1::/64

  static constexpr std::uint32_t source(std::uint64_t host) noexcept { return (198u << 24 | 18u << 16) + number(host); }
  static constexpr std::uint32_t destination(std::uint64_t host) noexcept {
    return (198u << 24 | 19u << 16) + number(host);
  }
  static constexpr std::uint16_t port(std::uint64_t port) noexcept { return static_cast<std::uint16_t>(1024 + port); }
  static constexpr std::uint16_t dynamic_port(std::uint64_t port) noexcept {
    return static_cast<std::uint16_t>(49152 + port);
  }

 private:
  static constexpr std::uint32_t number(std::uint64_t host) noexcept { return static_cast<std::uint32_t>(host + 1); }
};

/// Permutes 0 .. kBound - 1: rounds of xor-shift and odd multiplication on kBits bits, until the result is below
/// kBound.
/// Source: Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002 (cycle walking).
template <int kBits, std::uint64_t kBound>
constexpr std::uint64_t scramble_below(std::uint64_t x) noexcept {
  static_assert(kBits % 2 == 0 && kBits < 64 && kBound <= std::uint64_t{1} << kBits && kBound > 1ull << (kBits - 1));
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
  do {
    for (const std::uint64_t factor : {0xBF58476D1CE4E5B9ull, 0x94D049BB133111EBull})
      x = ((x ^ x >> kBits / 2) * factor) & kMask;
    x ^= x >> kBits / 2;
  } while (x >= kBound);
  return x;
}

}  // namespace parshall
