// SPDX-License-Identifier: Apache-2.0
#include "compare/over_time.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace parshall {
namespace {

constexpr std::uint64_t kBegin = 1'700'000'000'000'000'000, kSecond = 1'000'000'000, kEnd = kBegin + 2 * kSecond - 1;

TEST(OverTime, CountsEachPacketWhereItWasSent) {
  OverTime over_time(kBegin, kSecond);
  over_time.add_pair(Way::there, kBegin);
  over_time.add_delay(Way::there, kBegin, 2000, {});
  over_time.add_pair(Way::there, kBegin + 1);
  over_time.add_delay(Way::there, kBegin + 1, 4000, 2000);
  over_time.add_reordered(Way::there, kBegin + 1);
  over_time.add_single(Way::there, kBegin + kSecond, &Passed::lost);
  over_time.add_single(Way::back, kBegin + kSecond, &Passed::duplicated);
  EXPECT_TRUE(over_time.ended().empty());
  over_time.end_before(kBegin + kSecond);
  ASSERT_EQ(over_time.ended().size(), 1u);
  over_time.end(kEnd);
  ASSERT_EQ(over_time.ended().size(), 2u);
  const auto& [first, second] = std::pair(over_time.ended()[0], over_time.ended()[1]);
  EXPECT_EQ(first.begin_ns, kBegin);
  EXPECT_EQ(first.there.sent, 2);
  EXPECT_EQ(first.there.delivered, 2);
  EXPECT_EQ(first.there.reordered, 1);
  EXPECT_EQ(first.there.delays.mean, 3000);
  EXPECT_EQ(first.there.delays.variation, 2000);
  EXPECT_EQ(second.begin_ns, first.end_ns);
  EXPECT_EQ(second.there.sent, 1);
  EXPECT_EQ(second.there.lost, 1);
  EXPECT_EQ(second.back.received, 1);
  EXPECT_EQ(second.back.duplicated, 1);
  EXPECT_EQ(over_time.total(Way::there).sent, 3);
  EXPECT_EQ(over_time.delays(Way::there).packets, 2);
  EXPECT_EQ(over_time.delays(Way::there).ns, 6000);
  EXPECT_TRUE(first.is_whole);
  EXPECT_FALSE(second.is_whole) << "the taps watched until shortly before its end";
}

TEST(OverTime, HasEmptyIntervalsBetweenOthers) {
  OverTime over_time(kBegin, kSecond);
  over_time.add_pair(Way::there, kBegin);
  over_time.add_pair(Way::there, kBegin + 5 * kSecond);
  over_time.end(kEnd);
  ASSERT_EQ(over_time.ended().size(), 6u);
  EXPECT_EQ(over_time.ended()[3].there.sent, 0);
  EXPECT_EQ(over_time.ended()[3].begin_ns, kBegin + 3 * kSecond);
}

TEST(OverTime, EndsIntervalsWithoutPackets) {
  OverTime over_time(kBegin, kSecond);
  over_time.end_before(kBegin + 9 * kSecond);
  EXPECT_TRUE(over_time.ended().empty()) << "none has begun";
  over_time.add_pair(Way::there, kBegin + 9 * kSecond);
  over_time.end_before(kBegin + 13 * kSecond);
  ASSERT_EQ(over_time.ended().size(), 4u);
  EXPECT_EQ(over_time.ended()[0].there.sent, 1);
  EXPECT_EQ(over_time.ended()[3].there.sent, 0);
}

TEST(OverTime, TakesALatePacketToTheNextOne) {
  OverTime over_time(kBegin, kSecond);
  over_time.add_pair(Way::there, kBegin);
  over_time.end_before(kBegin + kSecond);
  over_time.add_pair(Way::there, kBegin + 1);
  over_time.end(kEnd);
  ASSERT_EQ(over_time.ended().size(), 2u);
  EXPECT_EQ(over_time.ended()[1].there.sent, 1);
}

TEST(OverTime, KeepsTheLatestAndTheSumsOfAll) {
  OverTime over_time(kBegin, kSecond);
  const std::uint64_t count = OverTime::kMost + 100;
  for (std::uint64_t i = 0; i < count; ++i) {
    over_time.add_pair(Way::back, kBegin + i * kSecond);
    over_time.end_before(kBegin + i * kSecond);
  }
  over_time.add_pair(Way::back, kBegin + (count + 10'000'000) * kSecond);  // after a long pause
  over_time.end(kBegin + (count + 10'000'001) * kSecond);
  EXPECT_EQ(over_time.ended().size(), OverTime::kMost);
  EXPECT_EQ(over_time.total(Way::back).sent, count + 1);
  EXPECT_EQ(over_time.ended().back().begin_ns, kBegin + (count + 10'000'000) * kSecond);
}

}  // namespace
}  // namespace parshall
