// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "lab/adaptive/stretches.hpp"

namespace parshall::lab {
namespace {

TEST(AdaptiveStretches, AreHalfASecondEachInOrderAndAfterTheWarmUp) {
  const AdaptiveSweep sweep{.seconds = 10, .warm_up_s = 2, .stretches = 4};
  const Stretches judged = judged_stretches(sweep);
  ASSERT_EQ(judged.size(), 4u);
  EXPECT_EQ(judged.front().first, kTrafficStartNs / kWindowNs + 1 + 200);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    EXPECT_EQ(judged[i].last - judged[i].first + 1, 50u);
    if (i != 0) {
      EXPECT_GT(judged[i].first, judged[i - 1].last);
    }
  }
  EXPECT_LE(judged.back().last, kTrafficStartNs / kWindowNs + 1000 - 2);
}

TEST(AdaptiveStretches, AreOneWhereNoneIsAskedForAndTheWarmUpIsHalfOfAShortRun) {
  const Stretches judged = judged_stretches({.seconds = 1, .warm_up_s = 2});
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_EQ(judged.front().first, kTrafficStartNs / kWindowNs + 1 + 50);
  EXPECT_EQ(judged.front().last, kTrafficStartNs / kWindowNs + 1 + 100 - 3);
}

}  // namespace
}  // namespace parshall::lab
