// SPDX-License-Identifier: Apache-2.0
// What every hash of the registry has to do, whichever it is.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.hpp"
#include "pipeline/flow/hashes/registry.hpp"
#include "pipeline/flow/identity.hpp"
#include "toeplitz.hpp"

namespace parshall {
namespace {

constexpr HashInput kEveryInput[] = {HashInput::addresses, HashInput::with_ports, HashInput::five_tuple};
const KeyedHash kSecret(20261121);

std::vector<FlowKey> random_keys(std::size_t count, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<FlowKey> keys(count);
  for (FlowKey& key : keys) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(&key);
    for (std::size_t i = 0; i < sizeof key; ++i) bytes[i] = static_cast<std::uint8_t>(random());
    key.ip_version = random() % 3 == 0 ? 6 : 4;  // runs of one version, odd and even, and changes
    key.reserved = 0;
  }
  return keys;
}

std::vector<std::uint64_t> words_of(HashBatch batch, const std::vector<FlowKey>& keys,
                                    const KeyedHash& secret = kSecret) {
  std::vector<std::uint64_t> words(keys.size());
  batch(secret, KeySpan(keys), words);
  return words;
}
std::uint64_t word_of(HashBatch batch, const FlowKey& key) { return words_of(batch, {key})[0]; }

class EveryHash : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    hash_ = &*std::ranges::find(hash_registry(), std::string_view(GetParam()), &HashFunction::name);
  }
  const HashFunction& hash() const { return *hash_; }

 private:
  const HashFunction* hash_ = nullptr;
};

TEST_P(EveryHash, HashesABatchAsItHashesEachKeyAlone) {
  for (const HashInput input : kEveryInput) {
    const HashBatch batch = hash().batch(input);
    for (std::size_t count = 0; count < 40; ++count) {
      const std::vector<FlowKey> keys = random_keys(count, count);
      const auto words = words_of(batch, keys);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(words[i], word_of(batch, keys[i])) << "key " << i;
    }
  }
}

TEST_P(EveryHash, TakesKeysAnywhereInMemory) {
  const std::vector<FlowKey> keys = random_keys(100, 1);
  constexpr std::size_t kStride = sizeof(FlowKey) + 3;
  for (const HashInput input : kEveryInput) {
    const auto words = words_of(hash().batch(input), keys);
    std::vector<PacketFacts> packets(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) packets[i].key = keys[i];
    std::vector<std::uint64_t> of_packets(keys.size());
    hash().batch(input)(kSecret, KeySpan(packets), of_packets);
    EXPECT_EQ(of_packets, words);
    for (std::size_t shift = 0; shift < 17; ++shift) {
      std::vector<std::uint8_t> memory(shift + kStride * keys.size());
      for (std::size_t i = 0; i < keys.size(); ++i)
        std::memcpy(memory.data() + shift + i * kStride, &keys[i], sizeof(FlowKey));
      std::vector<std::uint64_t> odd(keys.size());
      hash().batch(input)(kSecret, KeySpan(memory.data() + shift, keys.size(), kStride), odd);
      ASSERT_EQ(odd, words) << "from byte " << shift;
    }
  }
}

TEST_P(EveryHash, DependsOnEveryFieldOfItsInputAndOnNoOther) {
  for (const FlowKey& key : random_keys(64, 2))
    for (const HashInput input : kEveryInput) {
      const HashBatch batch = hash().batch(input);
      const std::uint64_t word = word_of(batch, key);
      const auto word_with = [&](std::size_t byte) {
        FlowKey changed = key;
        reinterpret_cast<std::uint8_t*>(&changed)[byte] ^= 0x10;
        return word_of(batch, changed);
      };
      const std::size_t addresses = offsetof(FlowKey, address);
      for (std::size_t byte = addresses; byte < sizeof(FlowKey); ++byte)
        ASSERT_EQ(word_with(byte) != word, byte < addresses + 2 * key.address_bytes()) << "byte " << byte;
      for (std::size_t byte = 0; byte < 4; ++byte)
        ASSERT_EQ(word_with(byte) != word, input != HashInput::addresses) << "byte " << byte << " of the ports";
      const bool protocol = input == HashInput::five_tuple && hash().takes(HashInput::five_tuple);
      ASSERT_EQ(word_with(offsetof(FlowKey, protocol)) != word, protocol);
    }
}

TEST_P(EveryHash, FillsTheBitsItSaysAndNoMore) {
  std::uint64_t any = 0;
  for (const std::uint64_t word : words_of(hash().batch(HashInput::five_tuple), random_keys(1000, 3))) any |= word;
  EXPECT_EQ(any, hash().bits == 64 ? ~0ull : (1ull << hash().bits) - 1);
}

TEST_P(EveryHash, LooksAtTheSecretWhenItIsKeyedAndOnlyThen) {
  const std::vector<FlowKey> keys = random_keys(10, 4);
  const HashBatch batch = hash().batch(HashInput::five_tuple);
  EXPECT_EQ(words_of(batch, keys, KeyedHash(1)) != words_of(batch, keys, KeyedHash(2)), hash().keyed);
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const HashFunction& hash : hash_registry()) names.emplace_back(hash.name);
  return names;
}
/// Returns the hashes of this build and this CPU; another test checks which these are.
std::vector<std::string> available_names() {
  std::vector<std::string> names;
  for (const HashFunction& hash : hash_registry())
    if (hash.available()) names.emplace_back(hash.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Registry, EveryHash, ::testing::ValuesIn(available_names()), [](const auto& instance) {
  std::string name = instance.param;
  std::erase(name, '-');
  return name;
});

TEST(HashRegistry, HasEveryHashButThoseThatNeedDpdkOrAnotherCpu) {
#ifdef PARSHALL_WITH_DPDK
  constexpr bool kDpdk = true;
#else
  constexpr bool kDpdk = false;
#endif
#ifdef __x86_64__
  const bool bit_matrices = __builtin_cpu_supports("gfni") && __builtin_cpu_supports("avx512vbmi");
#else
  constexpr bool bit_matrices = false;
#endif
  std::vector<std::string> expected;
  for (const std::string& name : names())
    if (name.starts_with("softrss") ? kDpdk : name != "toeplitz-gfni" || bit_matrices) expected.push_back(name);
  EXPECT_EQ(available_names(), expected);
  EXPECT_GE(expected.size(), 8u);
}

TEST(HashRegistry, FindsByNameAndNamesWhatThereIs) {
  EXPECT_EQ((*find_hash("murmur3"))->name, "murmur3");
  EXPECT_EQ(hash_registry()[0].name, "aes");
  EXPECT_NE(find_hash("murmur4").error().message.find("did you mean murmur3?"), std::string::npos);
}

TEST(Aes, IsTheHashOfTheMonitor) {
  const std::pair<HashInput, KeyFields> pairs[] = {{HashInput::five_tuple, KeyFields::five_tuple},
                                                   {HashInput::addresses, KeyFields::src_dst}};
  for (const auto& [input, fields] : pairs) {
    const FlowIdentity identity(fields, Identity::exact, 20261121);
    for (const FlowKey& key : random_keys(100, 5)) {
      PacketFacts facts{};
      facts.key = key;
      identity(RawPacket{}, facts);
      ASSERT_EQ(word_of((*find_hash("aes"))->batch(input), key), facts.hash);
    }
  }
}

TEST(FlowIdentity, UnderAnotherHashKeysWithOneWordMeetInPlacesThatAreSecret) {
  FlowKey there = random_keys(1, 7)[0];
  there.ip_version = 4;
  FlowKey back = there;
  std::swap_ranges(back.address.begin(), back.address.begin() + 4, back.address.begin() + 4);
  const auto hash_of = [](std::string_view name, std::uint64_t seed, const FlowKey& key) {
    return FlowIdentity(KeyFields::five_tuple, Identity::exact, seed, *find_hash(name)).hash(key);
  };
  EXPECT_EQ(hash_of("xor", 1, there), hash_of("xor", 1, back));
  EXPECT_NE(hash_of("crc32c", 1, there), hash_of("crc32c", 1, back));
  EXPECT_NE(hash_of("xor", 1, there), hash_of("xor", 2, there));
  FlowKey other_protocol = there;
  other_protocol.protocol ^= 1;
  EXPECT_NE(hash_of("murmur3", 1, there), hash_of("murmur3", 1, other_protocol));
  EXPECT_EQ(hash_of("toeplitz", 1, there), hash_of("toeplitz", 1, other_protocol)) << "it has no place for it";
  EXPECT_NE(hash_of("xor", 1, there), word_of((*find_hash("xor"))->batch(HashInput::five_tuple), there));
}

TEST(Xxh3, IsTheLibrarysHashOfTheFieldsWithoutGaps) {
  for (const FlowKey& key : random_keys(1000, 6)) {
    std::vector<std::uint8_t> bytes(key.address.data(), key.address.data() + 2 * key.address_bytes());
    const HashFunction& hash = **find_hash("xxh3");
    ASSERT_EQ(word_of(hash.batch(HashInput::addresses), key), XXH3_64bits(bytes.data(), bytes.size()));
    bytes.insert(bytes.end(), key.src_port_bytes.begin(), key.src_port_bytes.end());
    bytes.insert(bytes.end(), key.dst_port_bytes.begin(), key.dst_port_bytes.end());
    ASSERT_EQ(word_of(hash.batch(HashInput::with_ports), key), XXH3_64bits(bytes.data(), bytes.size()));
    bytes.push_back(key.protocol);
    ASSERT_EQ(word_of(hash.batch(HashInput::five_tuple), key), XXH3_64bits(bytes.data(), bytes.size()));
  }
}

}  // namespace
}  // namespace parshall
