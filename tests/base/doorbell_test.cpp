// SPDX-License-Identifier: Apache-2.0
#include "base/doorbell.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace parshall {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

TEST(DoorbellTest, WhoeverHasWorkDoesNotSleep) {
  Doorbell bell;
  const auto began = Clock::now();
  bell.sleep(10s, [] { return true; });
  EXPECT_LT(Clock::now() - began, 5s);
}

TEST(DoorbellTest, AnUnrungSleepLastsAsLongAsItMay) {
  Doorbell bell;
  const auto began = Clock::now();
  bell.sleep(20ms, [] { return false; });
  EXPECT_GE(Clock::now() - began, 20ms);
}

TEST(DoorbellTest, RingingEndsASleep) {
  Doorbell bell;
  std::atomic<bool> is_awake{false};
  std::thread sleeper([&] {
    bell.sleep(1h, [] { return false; });
    is_awake = true;
  });
  while (!is_awake) {
    bell.ring();
    std::this_thread::yield();
  }
  sleeper.join();
}

/// What was there before the call is seen by the sleeper, or the call wakes it: each round would last an hour else.
TEST(DoorbellTest, WakingIsAlwaysHeard) {
  Doorbell bell;
  std::atomic<int> given{0}, taken{0};
  constexpr int kRounds = 20'000;
  std::thread sleeper([&] {
    while (taken < kRounds) {
      bell.sleep(1h, [&] { return given > taken; });
      taken = given.load();
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    given = round;
    bell.wake();
  }
  sleeper.join();
  EXPECT_EQ(taken, kRounds);
}

}  // namespace
}  // namespace parshall
