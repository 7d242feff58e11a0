// SPDX-License-Identifier: Apache-2.0
#include "base/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

#include "facts.hpp"
#include "lab/tests/toeplitz.hpp"
#include "pipeline/flow/identity.hpp"

namespace parshall {
namespace {

using testing::colliding_keys;
using testing::key_of;
using testing::toeplitz;

std::uint64_t hash_of(const FlowIdentity& identity, const FlowKey& key) {
  PacketFacts facts{};
  facts.key = key;
  identity(RawPacket{}, facts);
  return facts.hash;
}

TEST(KeyedHash, EqualKeysHashAlikeWhateverTheUnusedBytesOfAnIpv4KeyHold) {
  const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, 99);
  for (std::uint64_t number = 0; number < 100; ++number) {
    FlowKey key = key_of(number);
    const std::uint64_t hash = hash_of(identity, key);
    if (key.ip_version == 4) key.address[8] = 0xAB, key.address[31] = 0xCD;
    key.reserved = 0xFFFF;
    EXPECT_EQ(hash_of(identity, key), hash);
  }
}

TEST(KeyedHash, AnotherSeedGivesAnotherHash) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    hashes.insert(hash_of(FlowIdentity(KeyFields::five_tuple, Identity::exact, seed), key_of(1)));
  EXPECT_EQ(hashes.size(), 1000u);
}

/// Flips single bits of random keys: every output bit has to flip in half of the cases.
void expect_avalanche(bool ipv6) {
  const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, 7);
  constexpr int kKeys = 4000;
  const FlowKey first = key_of(0, ipv6);
  for (std::size_t byte = 0; byte < first.significant_bytes(); ++byte) {
    if (byte == 5 || byte == 6 || byte == 7) continue;  // the version, and no part of the key
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::array<int, 64> flips{};
      for (int i = 0; i < kKeys; ++i) {
        FlowKey key = key_of(static_cast<std::uint64_t>(i) * 77, ipv6);
        const std::uint64_t before = hash_of(identity, key);
        reinterpret_cast<std::uint8_t*>(&key)[byte] ^= static_cast<std::uint8_t>(1u << bit);
        const std::uint64_t changed = before ^ hash_of(identity, key);
        for (unsigned b = 0; b < 64; ++b) flips[b] += static_cast<int>(changed >> b & 1);
      }
      for (unsigned b = 0; b < 64; ++b)  // 6 sigma: 64 x 320 comparisons
        ASSERT_NEAR(flips[b], kKeys / 2, 6 * std::sqrt(kKeys) / 2)
            << "input byte " << byte << " bit " << bit << ", output bit " << b;
    }
  }
}
TEST(KeyedHash, EveryInputBitFlipsEveryOutputBitHalfOfTheTimeForIpv4) { expect_avalanche(false); }
TEST(KeyedHash, EveryInputBitFlipsEveryOutputBitHalfOfTheTimeForIpv6) { expect_avalanche(true); }

/// Chi square of the keys over 2^12 buckets, in standard deviations from the mean, for a few seeds.
template <class BucketOf>
double worst_sigmas(const std::vector<FlowKey>& keys, BucketOf bucket_of) {
  constexpr std::size_t kBuckets = 4096;
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, seed);
    std::vector<double> seen(kBuckets);
    for (const FlowKey& key : keys) ++seen[bucket_of(hash_of(identity, key))];
    const double expected = static_cast<double>(keys.size()) / kBuckets;
    double chi = 0;
    for (const double n : seen) chi += (n - expected) * (n - expected) / expected;
    const double sigmas = (chi - (kBuckets - 1)) / std::sqrt(2.0 * (kBuckets - 1));
    if (std::fabs(sigmas) > std::fabs(worst)) worst = sigmas;
  }
  return worst;
}

std::vector<FlowKey> sequential_keys(bool ipv6) {
  std::vector<FlowKey> keys;
  for (std::uint32_t i = 0; i < 1u << 16; ++i) {
    FlowKey key;
    key.ip_version = ipv6 ? 6 : 4;
    key.protocol = 6;
    key.address[ipv6 ? 15 : 3] = static_cast<std::uint8_t>(i);
    key.address[ipv6 ? 14 : 2] = static_cast<std::uint8_t>(i >> 8);
    key.dst_port_bytes = {0, 80};
    keys.push_back(key);
  }
  return keys;
}

void expect_even(const std::vector<FlowKey>& keys) {
  EXPECT_LT(std::fabs(worst_sigmas(keys, [](std::uint64_t hash) { return hash >> 52; })), 5) << "high bits: the line";
  EXPECT_LT(std::fabs(worst_sigmas(keys, [](std::uint64_t hash) { return hash & 4095; })), 5) << "low bits: the tag";
  EXPECT_LT(std::fabs(worst_sigmas(keys, [](std::uint64_t hash) { return hash >> 24 & 4095; })), 5)
      << "middle bits: the worker's share";
}

TEST(KeyedHash, SequentialAddressesSpreadEvenly) {
  expect_even(sequential_keys(false));
  expect_even(sequential_keys(true));
}

TEST(KeyedHash, FiveTuplesAimedAtOneToeplitzValueSpreadEvenly) {
  const std::vector<FlowKey> keys = colliding_keys();
  std::unordered_set<std::string> different;
  for (const FlowKey& key : keys) {
    different.insert(testing::text_of(key));
    ASSERT_EQ(toeplitz(key), toeplitz(keys[0]));
  }
  ASSERT_EQ(different.size(), 65'536u);
  expect_even(keys);
}

TEST(FlowIdentity, FieldsThatAreNotPartOfTheKeyNeitherStayNorChangeTheHash) {
  for (const bool ipv6 : {false, true}) {
    const std::size_t half = ipv6 ? 16 : 4;
    for (const KeyFields fields : {KeyFields::src_dst, KeyFields::src, KeyFields::dst}) {
      const FlowIdentity identity(fields, Identity::exact, 5);
      PacketFacts one{}, other{};
      one.key = key_of(1, ipv6);
      other.key = one.key;
      other.key.src_port_bytes = {9, 9};
      other.key.dst_port_bytes = {8, 8};
      other.key.protocol = 99;
      if (fields == KeyFields::src) other.key.address[half] ^= 0xFF;
      if (fields == KeyFields::dst) other.key.address[0] ^= 0xFF;
      identity(RawPacket{}, one);
      identity(RawPacket{}, other);
      EXPECT_EQ(one.hash, other.hash);
      EXPECT_TRUE(one.key == other.key);
      EXPECT_EQ(one.key.protocol, 0);
      EXPECT_EQ(one.key.ip_version, ipv6 ? 6 : 4);
      other.key.address[fields == KeyFields::dst ? half : 0] ^= 1;
      identity(RawPacket{}, other);
      EXPECT_NE(one.hash, other.hash);
    }
  }
}

TEST(FlowIdentity, ByNicHashPacketsWithOneNicHashMeetWhateverTheirKeys) {
  const FlowIdentity identity(KeyFields::five_tuple, Identity::nic_hash, 5);
  RawPacket packet;
  packet.nic_hash = 0x1234;
  packet.has_nic_hash = true;
  PacketFacts one{}, other{};
  one.key = key_of(1);
  other.key = key_of(2);
  identity(packet, one);
  identity(packet, other);
  EXPECT_EQ(one.hash, other.hash);
  packet.nic_hash = 0x1235;
  identity(packet, other);
  EXPECT_NE(one.hash, other.hash);
}

TEST(FlowIdentity, PacketsWithoutANicHashAreToldApartByTheirKeys) {
  const FlowIdentity identity(KeyFields::five_tuple, Identity::nic_hash, 5);
  const RawPacket packet;
  PacketFacts one{}, other{}, again{};
  one.key = again.key = key_of(1);
  other.key = key_of(2);
  for (PacketFacts* const facts : {&one, &other, &again}) identity(packet, *facts);
  EXPECT_NE(one.hash, other.hash);
  EXPECT_EQ(one.hash, again.hash);
}

}  // namespace
}  // namespace parshall
