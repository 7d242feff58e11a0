// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "lab/tables/bucketed_counts.hpp"
#include "lab/tables/keyed_counts.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {
namespace {

TEST(BucketedCounts, CountExactlyUntilFullAndRejectWhatIsMore) {
  using Key = LabKey<16>;
  const LabHasher hasher{KeyedHash(1)};
  BucketedCounts<Key> counts({1000}, 0);
  std::vector<std::uint64_t> truth(counts.places() + 100);
  std::uint64_t rejected = 0;
  for (int round = 1; round <= 3; ++round)
    for (std::uint32_t flow = 0; flow < truth.size(); ++flow) {
      const Key key = key_of<16>(flow);
      const std::uint64_t counted = counts.add(hasher(key), key);
      if (counted == 0)
        ++rejected;
      else
        ASSERT_EQ(counted, ++truth[flow]) << flow;
    }
  EXPECT_GT(counts.size(), counts.places() * 9 / 10);
  EXPECT_EQ(counts.rejected(), rejected);
  EXPECT_EQ(rejected, 3 * (truth.size() - counts.size()));
  for (std::uint32_t flow = 0; flow < truth.size(); ++flow)
    ASSERT_EQ(counts.estimate(hasher(key_of<16>(flow)), key_of<16>(flow)), truth[flow]);
}

TEST(KeyedCounts, NameTheLastKeyOfAPlace) {
  using Key = LabKey<16>;
  const Key one = key_of<16>(1), other = key_of<16>(2);
  KeyedCounts<Key, OnOtherKey::add> added({1000}, 0);
  KeyedCounts<Key, OnOtherKey::replace> replaced({1000}, 0);
  constexpr std::uint64_t kHash = 5;  // of both
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(added.add(kHash, one), 1u + i);
    EXPECT_EQ(replaced.add(kHash, one), 1u + i);
  }
  EXPECT_EQ(added.estimate(kHash, one), 3u);
  EXPECT_EQ(replaced.estimate(kHash, one), 3u);
  EXPECT_EQ(added.add(kHash, other), 4u);
  EXPECT_EQ(replaced.add(kHash, other), 1u);
  EXPECT_EQ(added.estimate(kHash, one), 0u);
  EXPECT_EQ(added.estimate(kHash, other), 4u);
  EXPECT_EQ(replaced.estimate(kHash, other), 1u);
}

TEST(BucketedCounts, DoNotWrap) {
  using Key = LabKey<16>;
  const Key one = key_of<16>(1), other = key_of<16>(2);
  const LabHasher hasher{KeyedHash(1)};
  BucketedCounts<Key, std::uint8_t> counts({10}, 0);
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    ASSERT_EQ(counts.add(hasher(one), one), n);
    if (n % 10 == 0) {
      ASSERT_EQ(counts.add(hasher(other), other), n / 10);
    }
  }
  EXPECT_EQ(counts.estimate(hasher(one), one), 1000u);
  EXPECT_EQ(counts.estimate(hasher(other), other), 100u);
}

}  // namespace
}  // namespace parshall::lab
