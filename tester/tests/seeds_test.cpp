// SPDX-License-Identifier: Apache-2.0
#include "tester/seeds.hpp"

#include <gtest/gtest.h>

#include <set>

namespace parshall::tester {
namespace {

TEST(Seeds, OfATestDifferByWhatTheyAreForAndByTrial) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t test = 0; test < 100; ++test) {
    seeds.insert(seed_of(test, Chance::traffic));
    for (std::uint64_t trial = 0; trial < 100; ++trial) seeds.insert(trial_seed(seed_of(test, Chance::device), trial));
  }
  EXPECT_EQ(seeds.size(), 100 * 101);
  EXPECT_LT(*seeds.rbegin(), std::uint64_t{1} << kSeedBits);
}

TEST(Seeds, OfTheFirstTrialIsTheDevicesOwnWhateverItIs) {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}})
    EXPECT_EQ(trial_seed(seed, 0), seed);
}

}  // namespace
}  // namespace parshall::tester
