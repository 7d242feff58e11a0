// SPDX-License-Identifier: Apache-2.0
// Which hashes mix, which are only linear, and which are no hashes: on random keys and on consecutive addresses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "pipeline/flow/hashes/registry.hpp"
#include "tests/flow/facts.hpp"

namespace parshall {
namespace {

using Words = std::vector<std::uint64_t>;

const HashFunction& find(std::string_view name) { return **find_hash(name); }

Words words_of_all(const HashFunction& hash, const std::vector<FlowKey>& keys) {
  Words words(keys.size());
  hash.batch(HashInput::five_tuple)(KeyedHash(1), KeySpan(keys), words);
  return words;
}

/// `sources` times `destinations` addresses, each in a row, from 10.0.0.0 to 10.128.0.0, or in the last bytes for IPv6.
std::vector<FlowKey> consecutive_keys(std::uint32_t sources, std::uint32_t destinations, bool ipv6) {
  std::vector<FlowKey> keys;
  const auto put = [](std::uint8_t* end, std::uint32_t number) {
    for (unsigned i = 1; i <= 4; ++i, number >>= 8) end[-static_cast<int>(i)] = static_cast<std::uint8_t>(number);
  };
  for (std::uint32_t src = 0; src < sources; ++src)
    for (std::uint32_t dst = 0; dst < destinations; ++dst) {
      FlowKey key;
      key.ip_version = ipv6 ? 6 : 4;
      key.protocol = 6;
      key.dst_port_bytes = {0, 80};
      put(key.address.data() + key.address_bytes(), 0x0A00'0000 + src);
      put(key.address.data() + 2 * key.address_bytes(), 0x0A80'0000 + dst);
      keys.push_back(key);
    }
  return keys;
}

/// How far the words' `bits` from `shift` on are from even, in standard deviations of chi-square.
double sigmas_from_even(const Words& words, unsigned shift, unsigned bits) {
  std::vector<double> seen(std::size_t{1} << bits);
  for (const std::uint64_t word : words) ++seen[word >> shift & (seen.size() - 1)];
  const auto freedom = static_cast<double>(seen.size() - 1);
  const double expected = static_cast<double>(words.size()) / static_cast<double>(seen.size());
  double chi = 0;
  for (const double n : seen) chi += (n - expected) * (n - expected) / expected;
  return (chi - freedom) / std::sqrt(2 * freedom);
}

std::size_t different(const Words& words) { return std::unordered_set(words.begin(), words.end()).size(); }

class HashThatMixes : public ::testing::TestWithParam<const char*> {};

TEST_P(HashThatMixes, FlipsEveryOutputBitHalfOfTheTimeForEveryInputBit) {
  const HashFunction& hash = find(GetParam());
  constexpr int kKeys = 2000;
  for (const bool ipv6 : {false, true}) {
    std::vector<FlowKey> keys;
    for (std::uint64_t i = 0; i < kKeys; ++i) keys.push_back(testing::key_of(i * 77, ipv6));
    const Words before = words_of_all(hash, keys);
    for (std::size_t byte = 0; byte < keys[0].significant_bytes(); ++byte) {
      if (byte == 5 || byte == 6 || byte == 7) continue;  // the version, and no part of the key
      for (unsigned bit = 0; bit < 8; ++bit) {
        std::vector<FlowKey> changed = keys;
        for (FlowKey& key : changed)
          reinterpret_cast<std::uint8_t*>(&key)[byte] ^= static_cast<std::uint8_t>(1u << bit);
        const Words after = words_of_all(hash, changed);
        std::array<int, 64> flips{};
        for (std::size_t i = 0; i < keys.size(); ++i)
          for (unsigned b = 0; b < 64; ++b) flips[b] += static_cast<int>((before[i] ^ after[i]) >> b & 1);
        for (unsigned b = 0; b < hash.bits; ++b)  // 6 sigma: 64 x 320 comparisons
          ASSERT_NEAR(flips[b], kKeys / 2, 6 * std::sqrt(kKeys) / 2)
              << "input byte " << byte << " bit " << bit << ", output bit " << b;
      }
    }
  }
}

TEST_P(HashThatMixes, SpreadsConsecutiveAddressesEvenly) {
  const HashFunction& hash = find(GetParam());
  for (const bool ipv6 : {false, true})
    for (const auto& [sources, destinations] : {std::pair{1u << 16, 1u}, std::pair{256u, 256u}}) {
      const Words words = words_of_all(hash, consecutive_keys(sources, destinations, ipv6));
      EXPECT_GE(different(words) + 5, words.size());
      for (const unsigned shift : {0u, hash.bits / 2 - 6, hash.bits - 12})
        EXPECT_LT(std::fabs(sigmas_from_even(words, shift, 12)), 5) << "from bit " << shift;
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, HashThatMixes, ::testing::Values("aes", "xxh3", "spooky", "murmur3"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(HashQuality, LinearHashesKeepConsecutiveAddressesApartWithoutMixingThem) {
  for (const char* name : {"crc32c", "toeplitz"}) {
    const Words words = words_of_all(find(name), consecutive_keys(1 << 16, 1, false));
    EXPECT_EQ(different(words), words.size()) << name;
    const std::vector<FlowKey> keys = consecutive_keys(4, 1, false);
    const Words four = words_of_all(find(name), keys);
    EXPECT_EQ(four[0] ^ four[1], four[2] ^ four[3]) << name << ": one bit of the input flips the same bits of any word";
  }
}

// The documented failure, on a network of 256 clients and 256 servers: of 65,536 flows that many words are left, all of
// them in few of the buckets that the high bits name.
TEST(HashQuality, AdditionAndXorFailOnConsecutiveAddresses) {
  for (const bool ipv6 : {false, true}) {
    const std::vector<FlowKey> keys = consecutive_keys(256, 256, ipv6);
    const Words sums = words_of_all(find("addition"), keys), xors = words_of_all(find("xor"), keys);
    EXPECT_EQ(different(sums), 511u);
    EXPECT_EQ(different(xors), 256u);
    EXPECT_GT(sigmas_from_even(sums, 20, 12), 1000);
    EXPECT_GT(sigmas_from_even(xors, 20, 12), 1000);
  }
}

TEST(HashQuality, AdditionAndXorCannotTellWhichOfTwoAddressesSends) {
  const FlowKey there = testing::key_of(77, false);
  FlowKey back = there;
  std::swap_ranges(back.address.begin(), back.address.begin() + 4, back.address.begin() + 4);
  for (const char* name : {"addition", "xor"}) {
    const Words words = words_of_all(find(name), {there, back});
    EXPECT_EQ(words[0], words[1]) << name;
  }
  const Words words = words_of_all(find("crc32c"), {there, back});
  EXPECT_NE(words[0], words[1]);
}

}  // namespace
}  // namespace parshall
