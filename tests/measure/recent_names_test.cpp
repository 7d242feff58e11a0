// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/recent_names.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <utility>

namespace parshall {
namespace {

constexpr std::uint64_t kBeginNs = 1'700'000'000'000'000'000, kLongestNs = RecentNames::kLongestNs, kOneMs = 1'000'000;

TEST(RecentNames, TellARepeatWithinATenthOfASecond) {
  RecentNames names;
  EXPECT_FALSE(names.add(7, 1, kBeginNs));
  EXPECT_TRUE(names.add(7, 1, kBeginNs));
  EXPECT_TRUE(names.add(7, 1, kBeginNs + kLongestNs - kOneMs));
  EXPECT_FALSE(names.add(7, 1, kBeginNs + 2 * kLongestNs));
  EXPECT_TRUE(names.add(7, 1, kBeginNs + 2 * kLongestNs - kOneMs)) << "a little late";
}

TEST(RecentNames, AreOfAFlow) {
  RecentNames names;
  EXPECT_FALSE(names.add(7, 1, kBeginNs));
  EXPECT_FALSE(names.add(8, 1, kBeginNs));
  EXPECT_FALSE(names.add(7, 2, kBeginNs));
}

/// 200,000 packets a second of 100 flows, of which one in a hundred is repeated after up to 20 ms.
TEST(RecentNames, AgreeWithASetOfAll) {
  RecentNames names;
  std::mt19937_64 random(1);
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> seen;
  std::multimap<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>> later;
  std::uint64_t repeats = 0, missed = 0;
  const auto add = [&](std::uint32_t row, std::uint64_t name, std::uint64_t time_ns) {
    const auto [before, is_new] = seen.insert({{row, name}, time_ns});
    const bool is_repeat = !is_new && time_ns - before->second <= kLongestNs;
    before->second = time_ns;
    const bool told = names.add(row, name, time_ns);
    EXPECT_LE(told, is_repeat);
    repeats += is_repeat;
    missed += is_repeat && !told;
  };
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    const std::uint64_t time_ns = kBeginNs + i * 5000;
    while (!later.empty() && later.begin()->first <= time_ns) {
      add(later.begin()->second.first, later.begin()->second.second, later.begin()->first);
      later.erase(later.begin());
    }
    const auto row = static_cast<std::uint32_t>(random() % 100);
    const std::uint64_t name = random();
    add(row, name, time_ns);
    if (random() % 100 == 0) later.insert({time_ns + random() % (20 * kOneMs), {row, name}});
  }
  EXPECT_GT(repeats, 9000);
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace parshall
