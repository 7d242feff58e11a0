// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/rivals/hashes/rss_key.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall::testing {

/// Directly from the definition: for every bit set in the input, the 32 key bits that start there.
inline std::uint32_t toeplitz(std::span<const std::uint8_t> input) {
  const auto key_bit = [](std::size_t i) { return kRssKey[i / 8] >> (7 - i % 8) & 1u; };
  std::uint32_t hash = 0;
  for (std::size_t i = 0; i < 8 * input.size(); ++i) {
    if ((input[i / 8] >> (7 - i % 8) & 1) == 0) continue;
    std::uint32_t window = 0;
    for (std::size_t b = 0; b < 32; ++b) window = window << 1 | key_bit(i + b);
    hash ^= window;
  }
  return hash;
}

/// Source address, destination address, source port, destination port: the order that RSS hashes.
inline std::uint32_t toeplitz(const FlowKey& key, bool with_ports = true) {
  std::vector<std::uint8_t> input(key.address.data(), key.address.data() + 2 * key.address_bytes());
  if (with_ports) {
    input.insert(input.end(), key.src_port_bytes.begin(), key.src_port_bytes.end());
    input.insert(input.end(), key.dst_port_bytes.begin(), key.dst_port_bytes.end());
  }
  return toeplitz(input);
}

/// 65,536 TCP five-tuples to one server with one Toeplitz hash, all different.
///
/// The hash is linear over GF(2). Source address and source port are 48 bits, the hash 32, so the differences
/// without effect are a space of at least 2^16: Gauss on the 48 unit vectors gives its basis.
inline std::vector<FlowKey> colliding_keys() {
  const auto key_from = [](std::uint64_t bits) {  // address in the high 32 of 48 bits, port in the low 16
    FlowKey key;
    key.ip_version = 4;
    key.protocol = 6;
    for (unsigned i = 0; i < 4; ++i) key.address[i] = static_cast<std::uint8_t>(bits >> (40 - 8 * i));
    key.src_port_bytes = {static_cast<std::uint8_t>(bits >> 8), static_cast<std::uint8_t>(bits)};
    return key;
  };
  struct BitRow {
    std::uint32_t hash;
    std::uint64_t bits;
  };
  std::array<BitRow, 32> pivots{};
  std::vector<std::uint64_t> kernel;
  for (unsigned bit = 0; bit < 48; ++bit) {
    BitRow row{toeplitz(key_from(1ull << bit)), 1ull << bit};
    while (row.hash != 0) {
      BitRow& pivot = pivots[static_cast<unsigned>(std::countl_zero(row.hash))];
      if (pivot.hash == 0) {
        pivot = row;
        break;
      }
      row.hash ^= pivot.hash;
      row.bits ^= pivot.bits;
    }
    if (row.hash == 0) kernel.push_back(row.bits);
  }
  std::vector<FlowKey> keys;
  for (std::uint32_t choice = 0; choice < 1u << 16; ++choice) {
    std::uint64_t bits = 0xC0A8'0101'04D2;  // 192.168.1.1 port 1234
    for (unsigned i = 0; i < 16; ++i)
      if (choice >> i & 1) bits ^= kernel.at(i);
    FlowKey key = key_from(bits);
    for (std::size_t i = 0; i < 4; ++i) key.address[4 + i] = static_cast<std::uint8_t>(10 * (i == 0) + i);
    key.dst_port_bytes = {1, 187};
    keys.push_back(key);
  }
  return keys;
}

}  // namespace parshall::testing
