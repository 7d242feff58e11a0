// SPDX-License-Identifier: Apache-2.0
// Every implementation of Toeplitz against Microsoft's verification suite and against the definition.
#include "toeplitz.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "pipeline/flow/hashes/registry.hpp"

namespace parshall {
namespace {

using testing::toeplitz;

const KeyedHash kUnused(0);

/// Returns the implementations that this build and this CPU have.
std::vector<const HashFunction*> implementations() {
  std::vector<const HashFunction*> found;
  for (const char* name : {"toeplitz", "toeplitz-gfni", "softrss", "softrss-be"})
    if (const auto hash = find_hash(name)) found.push_back(*hash);
  return found;
}

struct Vector {
  const char* destination;
  std::uint16_t destination_port;
  const char* source;
  std::uint16_t source_port;
  std::uint32_t addresses, with_ports;
};

// Source: Microsoft, "Verifying the RSS Hash Calculation", NDIS documentation.
constexpr Vector kVectors[] = {
    {"161.142.100.80", 1766, "66.9.149.187", 2794, 0x323e8fc2, 0x51ccc178},
    {"65.69.140.83", 4739, "199.92.111.2", 14230, 0xd718262a, 0xc626b0ea},
    {"12.22.207.184", 38024, "24.19.198.95", 12898, 0xd2d0a5de, 0x5c2b394a},
    {"209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176, 0xafc7327f},
    {"202.188.127.2", 1303, "153.39.163.191", 44251, 0x5d1809c5, 0x10e828a2},
    {"3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2cc18cd5, 0x40207d3d},
    {"ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0f0c461c, 0xdde51bbf},
    {"fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, 0x4b61e985, 0x02d1feef},
};

FlowKey key_of(const Vector& vector) {
  FlowKey key;
  key.ip_version = std::string_view(vector.source).find(':') == std::string_view::npos ? 4 : 6;
  const int family = key.ip_version == 4 ? AF_INET : AF_INET6;
  EXPECT_EQ(::inet_pton(family, vector.source, key.address.data()), 1);
  EXPECT_EQ(::inet_pton(family, vector.destination, key.address.data() + key.address_bytes()), 1);
  const auto bytes = [](std::uint16_t port) {
    return std::array{static_cast<std::uint8_t>(port >> 8), static_cast<std::uint8_t>(port)};
  };
  key.src_port_bytes = bytes(vector.source_port);
  key.dst_port_bytes = bytes(vector.destination_port);
  return key;
}

std::uint64_t toeplitz_word(const HashFunction& hash, HashInput input, const FlowKey& key) {
  std::uint64_t word = 0;
  hash.batch(input)(kUnused, KeySpan({&key, 1}), {&word, 1});
  return word;
}

TEST(Toeplitz, GivesTheHashesOfTheVerificationSuite) {
  for (const Vector& vector : kVectors) {
    const FlowKey key = key_of(vector);
    EXPECT_EQ(toeplitz(key, false), vector.addresses) << vector.source;
    EXPECT_EQ(toeplitz(key, true), vector.with_ports) << vector.source;
    for (const HashFunction* hash : implementations()) {
      EXPECT_EQ(toeplitz_word(*hash, HashInput::addresses, key), vector.addresses)
          << hash->name << ", " << vector.source;
      EXPECT_EQ(toeplitz_word(*hash, HashInput::with_ports, key), vector.with_ports)
          << hash->name << ", " << vector.source;
      EXPECT_EQ(toeplitz_word(*hash, HashInput::five_tuple, key), vector.with_ports)
          << hash->name << ": no protocol in it";
    }
  }
}

TEST(Toeplitz, IsOneHashWhateverComputesIt) {
  constexpr std::size_t kKeys = 100'000;
  SplitMix64 random(1);
  for (const bool ipv6 : {false, true}) {
    std::vector<FlowKey> keys(kKeys);
    for (FlowKey& key : keys) {
      for (std::uint8_t& byte : key.address) byte = static_cast<std::uint8_t>(random());
      for (auto* port : {&key.src_port_bytes, &key.dst_port_bytes})
        for (std::uint8_t& byte : *port) byte = static_cast<std::uint8_t>(random());
      key.ip_version = ipv6 ? 6 : 4;
    }
    for (const HashInput input : {HashInput::addresses, HashInput::with_ports}) {
      std::vector<std::uint64_t> truth;
      for (const FlowKey& key : keys) truth.push_back(toeplitz(key, input == HashInput::with_ports));
      for (const HashFunction* hash : implementations()) {
        std::vector<std::uint64_t> words(kKeys);
        hash->batch(input)(kUnused, KeySpan(keys), words);
        EXPECT_EQ(words, truth) << hash->name;
      }
    }
  }
}

}  // namespace
}  // namespace parshall
