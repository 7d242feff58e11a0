// SPDX-License-Identifier: Apache-2.0
#include "base/mean_interval.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace parshall {
namespace {

TEST(StudentT, IsThatOfTheTables) {
  EXPECT_NEAR(student_t_975(1), 12.7062, 2e-4);
  EXPECT_NEAR(student_t_975(9), 2.2622, 2e-4);
  EXPECT_NEAR(student_t_975(10), 2.2281, 2e-4);
  EXPECT_NEAR(student_t_975(11), 2.2010, 2e-4);
  EXPECT_NEAR(student_t_975(20), 2.0860, 2e-4);
  EXPECT_NEAR(student_t_975(49), 2.0096, 2e-4);
  EXPECT_NEAR(student_t_975(1'000'000), 1.9600, 2e-4);
}

TEST(MeanInterval, IsStudentsOverTheSamples) {
  const std::vector<double> samples{1, 2, 3, 4, 5};
  const MeanInterval interval = mean_interval(samples);
  EXPECT_DOUBLE_EQ(interval.mean, 3);
  EXPECT_NEAR(*interval.deviation, 1.5811388, 1e-7);
  EXPECT_NEAR(*interval.half_width, 2.7764 * 1.5811388 / 2.2360680, 1e-4);
}

TEST(MeanInterval, OfSamplesThatAreAlikeIsNoneWide) {
  const std::vector<double> samples(3, 0.1);
  EXPECT_EQ(mean_interval(samples).mean, 0.1);
  EXPECT_EQ(mean_interval(samples).deviation, 0);
  EXPECT_EQ(mean_interval(samples).half_width, 0);
}

TEST(MeanInterval, OfOneSampleIsNone) {
  const std::vector<double> one{0.25};
  EXPECT_DOUBLE_EQ(mean_interval(one).mean, 0.25);
  EXPECT_FALSE(mean_interval(one).half_width);
  EXPECT_FALSE(mean_interval(one).deviation);
}

TEST(ShareInterval, IsWilsons) {
  EXPECT_NEAR(share_interval(8, 10).low, 0.4902, 1e-4);
  EXPECT_NEAR(share_interval(8, 10).high, 0.9433, 1e-4);
  EXPECT_DOUBLE_EQ(share_interval(0, 10).low, 0);
  EXPECT_NEAR(share_interval(0, 10).high, 0.2775, 1e-4);
  EXPECT_DOUBLE_EQ(share_interval(10, 10).high, 1);
  EXPECT_DOUBLE_EQ(share_interval(0, 0).high, 1);
}

TEST(RuleOfThree, BoundsWhatDidNotHappen) { EXPECT_DOUBLE_EQ(upper_of_none(1'000'000), 3e-6); }

}  // namespace
}  // namespace parshall
