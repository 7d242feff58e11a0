// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/files/loss_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

TEST(LossLog, WithoutAnyReadingWhatIsLostByNowIsTheBound) {
  LossLog log;
  EXPECT_TRUE(log.missed(10, 20).exact) << "nobody lost anything";
  Losses now;
  log.follow([&now] { return now; }, /*merges=*/false);
  EXPECT_TRUE(log.missed(10, 20).exact);
  now.packets = 7;
  EXPECT_FALSE(log.missed(10, 20).exact);
  EXPECT_EQ(log.missed(10, 20).packets_at_most, 7u);
}

TEST(LossLog, OfADeviceThatDoesNotSayWhatItLosesNothingIsKnown) {
  LossLog log;
  log.follow([] { return Losses{.untold = true}; }, /*merges=*/false);
  log.note({.untold = true}, 100, 90);
  EXPECT_FALSE(log.missed(100, 200).exact);
  EXPECT_EQ(log.missed(100, 200).packets_at_most, std::nullopt);
}

TEST(LossLog, CountsFromTheLastReadingBeforeARecordToTheFirstBehindIt) {
  LossLog log;
  log.follow([] { return Losses{.packets = 100}; }, /*merges=*/false);
  log.note({.packets = 0}, 100, 90);
  log.note({.packets = 0}, 200, 190);
  log.note({.packets = 5}, 300, 290);
  log.note({.packets = 5}, 400, 390);
  log.note({.packets = 9}, 500, 490);
  EXPECT_TRUE(log.missed(150, 190).exact) << "nothing was lost up to 190";
  EXPECT_TRUE(log.missed(300, 390).exact) << "nothing was lost between 300 and 390";
  EXPECT_EQ(log.missed(150, 191).packets_at_most, 5u);
  EXPECT_EQ(log.missed(299, 390).packets_at_most, 5u) << "the reading at 300 may be of something later";
  EXPECT_EQ(log.missed(300, 391).packets_at_most, 4u);
  EXPECT_EQ(log.missed(10, 490).packets_at_most, 9u);
  EXPECT_EQ(log.missed(500, 600).packets_at_most, 91u) << "what is lost by now";
}

TEST(LossLog, TheLastReadingIsThatOfTheEnd) {
  LossLog log;
  Losses now{.packets = 3};
  log.follow([&now] { return now; }, /*merges=*/false);
  log.stop();
  now.packets = 50;
  EXPECT_EQ(log.missed(1, 2).packets_at_most, 3u);
}

TEST(LossLog, ARecordIsNotExactWhileFlowsAreSeenInPart) {
  LossLog log;
  log.follow([] { return Losses{.partial_changes = 2}; }, /*merges=*/false);
  log.note({}, 100, 90);
  log.note({.partial_changes = 1, .partial = true}, 200, 190);
  log.note({.partial_changes = 2}, 300, 290);
  EXPECT_TRUE(log.missed(50, 90).exact);
  EXPECT_FALSE(log.missed(50, 91).exact);
  EXPECT_FALSE(log.missed(200, 200).exact);
  EXPECT_FALSE(log.missed(200, 1000).exact);
  EXPECT_TRUE(log.missed(300, 1000).exact);
  EXPECT_EQ(log.missed(200, 1000).packets_at_most, 0u) << "it is counted how many they were";
}

TEST(LossLog, WherePacketsAreWorkedOnLateItMattersWhatShowsBeforeTheRecordIsWritten) {
  for (const bool late : {true, false}) {
    LossLog log;
    log.follow([] { return Losses{.partial_changes = 1, .partial = true}; }, /*merges=*/false, late);
    log.note({}, 100, 90);
    log.note({}, 200, 190);
    EXPECT_EQ(log.missed(100, 190).exact, !late);
    EXPECT_EQ(log.missed(100, 190).packets_at_most, 0u);
  }
}

TEST(LossLog, WhereFlowsMayBeMergedNoRecordIsExact) {
  LossLog log;
  log.follow([] { return Losses(); }, /*merges=*/true);
  EXPECT_FALSE(log.missed(1, 2).exact);
  EXPECT_EQ(log.missed(1, 2).packets_at_most, 0u);
}

/// Losses at random times; readings whose moments are known up to a random width.
TEST(LossLog, IsNeverTooSmallAndForgetsOnlyToBecomeTooLarge) {
  SplitMix64 random(11);
  std::vector<std::uint64_t> lost;  // times, in order
  LossLog log;
  std::uint64_t now = 1000;
  log.follow([&] { return Losses{.packets = lost.size()}; }, /*merges=*/false);
  std::size_t tight = 0, exact = 0, records = 0;
  for (int step = 0; step < 20'000; ++step) {
    now += random.below(50);
    if (random.below(4) == 0 && (now / 20'000) % 2 == 0) lost.push_back(now);
    if (random.below(5) == 0) {
      const Losses reading{.packets = lost.size()};
      const std::uint64_t until = now - random.below(20);
      const std::uint64_t late = random.below(300);
      for (std::uint64_t wait = 0; wait < late; wait += 30) {  // until it is known, more is lost
        now += 30;
        if (random.below(8) == 0 && (now / 20'000) % 2 == 0) lost.push_back(now);
      }
      log.note(reading, now + 1, until);
    }
    const std::uint64_t first = now - std::min(now, random.below(step % 3 == 0 ? 100'000 : 500)),
                        last = now - random.below(now - first + 1);
    const auto within = std::ranges::upper_bound(lost, last) - std::ranges::lower_bound(lost, first);
    const LossLog::Missed missed = log.missed(first, last);
    ASSERT_GE(missed.packets_at_most, static_cast<std::uint64_t>(within)) << first << " to " << last;
    ASSERT_EQ(missed.exact, missed.packets_at_most == 0);
    ++records;
    exact += missed.exact ? 1 : 0;
    tight += missed.packets_at_most <= 2 * static_cast<std::uint64_t>(within) + 20 ? 1 : 0;
  }
  EXPECT_GT(lost.size(), 2 * LossLog::kMost);
  EXPECT_GT(exact, records / 10);
  EXPECT_GT(tight, records / 4);
}

}  // namespace
}  // namespace parshall
