// SPDX-License-Identifier: Apache-2.0
#include "tester/watch_loss/overall_loss.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace parshall::tester {
namespace {

MonitorRun run_of(std::uint64_t sent, std::uint64_t counted) {
  return {.sent = sent, .kernel = KernelCounters{.received = sent}, .offered = sent, .counted = counted};
}

TEST(OverallLoss, IsTheMeanOfTheRunsWithAnInterval) {
  const OverallLoss loss = overall_loss(std::vector{run_of(1000, 990), run_of(1000, 970)});
  EXPECT_TRUE(loss.offered == 2000 && loss.lost == 40 && loss.mixed == 0);
  EXPECT_DOUBLE_EQ(*loss.ratio, 0.02);
  EXPECT_EQ(loss.low, 0);
  EXPECT_NEAR(*loss.high, 0.02 + 12.706 * 0.01, 1e-4);
  EXPECT_FALSE(loss.upper_of_none);
  const OverallLoss one = overall_loss(std::vector{run_of(1000, 990)});
  EXPECT_TRUE(one.ratio && !one.low && !one.high);
}

TEST(OverallLoss, OfNothingLostHasTheRuleOfThreeAndNoIntervalOfNoWidth) {
  for (const std::size_t runs : {1, 3}) {
    const OverallLoss loss = overall_loss(std::vector(runs, run_of(1000, 1000)));
    EXPECT_EQ(loss.ratio, 0);
    EXPECT_FALSE(loss.low || loss.high);
    EXPECT_DOUBLE_EQ(*loss.upper_of_none, 3.0 / static_cast<double>(1000 * runs));
  }
}

TEST(OverallLoss, IsNotKnownWhereOtherTrafficMayStandForWhatWasLost) {
  MonitorRun counted_more = run_of(1000, 1001), received_more = run_of(1000, 999);
  received_more.kernel->received = 1002;
  for (const MonitorRun& mixed : {counted_more, received_more}) {
    EXPECT_FALSE(mixed.loss());
    const OverallLoss loss = overall_loss(std::vector{run_of(1000, 990), mixed, run_of(1000, 1000)});
    EXPECT_EQ(loss.mixed, 1u);
    EXPECT_EQ(loss.offered, 3000u);
    EXPECT_FALSE(loss.ratio || loss.low || loss.high || loss.upper_of_none);
  }
  EXPECT_EQ(run_of(1000, 990).loss(), 0.01);
}

}  // namespace
}  // namespace parshall::tester
