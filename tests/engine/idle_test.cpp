// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "engine/threads.hpp"

namespace parshall {
namespace {

constexpr int kMany = 5'000;

/// Turns up to the first that sleeps, or kMany.
int turns_before_sleep(Idle& idle) {
  bool slept = false;
  for (int turns = 0; turns < kMany; ++turns) {
    idle.wait([&slept] { slept = true; });
    if (slept) return turns;
  }
  return kMany;
}

TEST(IdleTest, SleepsOnceNothingComesAndThenAtEachTurn) {
  Idle idle(/*busy_poll=*/false);
  EXPECT_FALSE(idle.waiting());
  EXPECT_GT(turns_before_sleep(idle), 1'000);
  EXPECT_TRUE(idle.waiting());
  EXPECT_EQ(turns_before_sleep(idle), 0);
}

TEST(IdleTest, WhoIsToPollBusilyNeverSleeps) {
  Idle idle(/*busy_poll=*/true);
  EXPECT_EQ(turns_before_sleep(idle), kMany);
}

TEST(IdleTest, ALonePacketAfterASleepIsFollowedByNapsAndASecondOneBySpinning) {
  Idle idle(/*busy_poll=*/false);
  turns_before_sleep(idle);
  idle.reset();
  EXPECT_FALSE(idle.waiting()) << "or the time until it waits again would not count as work";
  const int after_one = turns_before_sleep(idle);
  EXPECT_GT(after_one, 0);
  EXPECT_LT(after_one, 100);
  idle.reset();
  idle.reset();
  EXPECT_GT(turns_before_sleep(idle), 1'000);
}

TEST(IdleTest, WorkThatCanWaitPutsSleepOff) {
  Idle idle(/*busy_poll=*/false);
  turns_before_sleep(idle);
  idle.stay_awake();
  EXPECT_GT(turns_before_sleep(idle), 0);
}

}  // namespace
}  // namespace parshall
