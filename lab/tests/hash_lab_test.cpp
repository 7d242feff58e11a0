// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unordered_set>

#include "base/random.hpp"
#include "lab/hashes/report.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

std::vector<const HashFunction*> all_hashes() {
  std::vector<const HashFunction*> all;
  for (const HashFunction& hash : hash_registry())
    if (hash.available()) all.push_back(&hash);
  return all;
}

std::vector<HashRow> hash_rows(const HashSweep& sweep) {
  std::vector<HashRow> all;
  const auto measured = measure_hashes(
      sweep, [&](std::span<const HashRow> rows) { all.insert(all.end(), rows.begin(), rows.end()); },
      [] { return false; });
  EXPECT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(*measured, comparisons(sweep));
  return all;
}

TEST(HashKeys, AreDifferentInTheirAddressesAlone) {
  for (const bool ipv6 : {false, true})
    for (const auto& keys : {random_keys(50'000, ipv6, 1), consecutive_keys(50'000, ipv6)}) {
      std::unordered_set<std::string> addresses;
      for (const FlowKey& key : keys) {
        EXPECT_EQ(key.ip_version, ipv6 ? 6 : 4);
        addresses.emplace(reinterpret_cast<const char*>(key.address.data()), 2 * key.address_bytes());
      }
      EXPECT_EQ(addresses.size(), keys.size());
    }
}

TEST(HashQuality, OfARandomFunctionIsIdeal) {
  SplitMix64 random(1);
  std::vector<std::uint64_t> words(1 << 16);
  for (const unsigned bits : {20u, 32u, 64u}) {
    for (std::uint64_t& word : words) word = random() >> (64 - bits);
    const HashQuality quality = quality_of(words, bits);
    const double ideal = ideal_collided_share(words.size(), bits);
    EXPECT_NEAR(quality.collided_share, ideal, 0.05 * ideal + 1e-4);
    EXPECT_NEAR(quality.low_chi_square, 1, 0.12) << "5 standard deviations";
    EXPECT_NEAR(quality.high_chi_square, 1, 0.12);
    EXPECT_FALSE(collides_too_often(quality, words.size(), bits));
    EXPECT_NEAR(quality.overflow_share, 0.1036, 0.005) << "Poisson: e^-1 sum of (k - 2) / k! over k > 2";
  }
  EXPECT_NEAR(ideal_collided_share(1 << 16, 32), 65535 * 0x1p-32, 1e-9);
  EXPECT_NEAR(ideal_collided_share(1 << 20, 16), 1, 1e-6);
}

TEST(HashQuality, CountsEveryKeyOfAGroupThatMeets) {
  std::vector<std::uint64_t> words(1000);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i << 22;
  EXPECT_EQ(quality_of(words, 32).collided_share, 0);
  words[0] = words[1] = words[2];
  words[10] = words[999];
  const HashQuality quality = quality_of(words, 32);
  EXPECT_DOUBLE_EQ(quality.collided_share, 5.0 / 1000);
  EXPECT_TRUE(collides_too_often(quality, words.size(), 32));
  EXPECT_DOUBLE_EQ(quality.low_chi_square, 1000 * 63 / 63.0) << "all in one of 64 buckets";
  EXPECT_LT(quality.high_chi_square, 1) << "sixteen in each of 63";
}

TEST(HashExperiment, MeasuresEveryHashOnTheInputsItTakes) {
  const auto rows = hash_rows({.hashes = all_hashes(), .keys = 1 << 14, .rounds = 1});
  std::size_t expected = 0;
  for (const HashFunction* hash : all_hashes())
    for (const HashInput input : {HashInput::addresses, HashInput::with_ports, HashInput::five_tuple})
      expected += 2 * hash->takes(input);
  ASSERT_EQ(rows.size(), expected);
  for (const HashRow& row : rows) {
    SCOPED_TRACE(std::string(row.hash->name));
    EXPECT_GT(row.cost.median_ns, 0);
    EXPECT_LE(row.cost.low_ns, row.cost.median_ns);
    const bool folds = row.hash->name == "addition" || row.hash->name == "xor";
    EXPECT_EQ(collides_too_often(row.consecutive, row.of.keys, row.hash->bits), folds);
    if (folds) {
      EXPECT_GT(row.consecutive.high_chi_square, 100);
    } else {
      EXPECT_NEAR(row.random.low_chi_square, 1, 0.2);
    }
  }
}

HashFunction with(HashBatch batch) { return {"wrong", "", 64, false, {batch, batch, batch}, "toeplitz"}; }

TEST(HashExperiment, RefusesWordsThatDependOnTheBatchOrAreNotThoseTheyShouldBe) {
  const HashFunction depends = with([](const KeyedHash&, KeySpan keys, std::span<std::uint64_t> words) noexcept {
    for (std::uint64_t& word : words) word = keys.size();
  });
  const HashFunction other = with([](const KeyedHash&, KeySpan, std::span<std::uint64_t> words) noexcept {
    for (std::uint64_t& word : words) word = 7;
  });
  for (const auto& [hash, than] : {std::pair{&depends, "than alone"}, std::pair{&other, "than toeplitz"}}) {
    bool handed_over = false;
    const auto measured = measure_hashes(
        {.hashes = {hash}, .keys = 1000}, [&](auto) { handed_over = true; }, [] { return false; });
    ASSERT_FALSE(measured);
    EXPECT_FALSE(handed_over);
    EXPECT_THAT(measured.error().message, HasSubstr(than));
  }
}

TEST(HashExperiment, StopsBetweenInputsAndKeepsWhatWasDone) {
  std::size_t parts = 0;
  const auto measured = measure_hashes(
      {.hashes = all_hashes(), .keys = 1000, .rounds = 1}, [&](auto) { ++parts; }, [&] { return parts == 2; });
  ASSERT_TRUE(measured);
  EXPECT_EQ(*measured, 2u);
  EXPECT_EQ(parts, 2u);
}

TEST(HashReport, HasACellForEveryColumnAndNamesWhatCollides) {
  const HashSweep sweep{.hashes = {*find_hash("aes"), *find_hash("xor")},
                        .inputs = {HashInput::with_ports},
                        .ip_versions = {6},
                        .keys = 4096,
                        .rounds = 1};
  const auto rows = hash_rows(sweep);
  const Part part = hash_part(rows);
  ASSERT_EQ(part.rows.size(), 2u);
  EXPECT_EQ(part.rows[0].size(), hash_columns().size());
  const auto at = [&](std::string_view name) {
    return std::ranges::find(hash_columns(), name, &Column::name) - hash_columns().begin();
  };
  EXPECT_EQ(part.rows[1][at("hash")], Cell(std::string("xor")));
  EXPECT_EQ(part.rows[1][at("input_bytes")], Cell(std::uint64_t{36}));
  EXPECT_EQ(part.rows[0][at("ratio")], Cell(1.0));
  EXPECT_EQ(part.verdict, "collide more often than a random function: xor");
  EXPECT_EQ(hash_part(std::span(rows).first(1)).verdict, "none collides more often than a random function");
}

}  // namespace
}  // namespace parshall::lab
