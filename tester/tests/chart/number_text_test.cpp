// SPDX-License-Identifier: Apache-2.0
#include "tester/chart/number_text.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace parshall::tester {
namespace {

TEST(NumberText, HasDigitsThatCountAndAPrefix) {
  EXPECT_EQ(number_text(1'234'567, "pps"), "1.2346 Mpps");
  EXPECT_EQ(number_text(1000, "pps"), "1 kpps");
  EXPECT_EQ(number_text(999.999, "pps"), "1 kpps");
  EXPECT_EQ(number_text(999.99, "pps"), "999.99 pps");
  EXPECT_EQ(number_text(0.5, "pps"), "0.5 pps");
  EXPECT_EQ(number_text(0.00012345678, ""), "0.00012346");
  EXPECT_EQ(number_text(0, "pps"), "0 pps");
  EXPECT_EQ(number_text(-20'000, ""), "-20 k");
  EXPECT_EQ(number_text(2e21, "pps"), "2000 Epps");
  EXPECT_EQ(number_text(12'345, "", 2), "12 k");
}

TEST(NumberText, OfWhatIsNoNumberIsNone) {
  EXPECT_EQ(number_text(NAN, "pps"), "none");
  EXPECT_EQ(number_text(INFINITY, "pps"), "none");
  EXPECT_EQ(percent_text(NAN), "none");
}

TEST(PercentText, IsAShareWithoutAnExponent) {
  EXPECT_EQ(percent_text(0.005), "0.5 %");
  EXPECT_EQ(percent_text(1e-7), "0.00001 %");
  EXPECT_EQ(percent_text(1.0 / 3), "33.33 %");
  EXPECT_EQ(percent_text(0), "0 %");
}

TEST(SecondsText, HasDigitsThatCount) {
  EXPECT_EQ(seconds_text(300'000'000 * 1e-9), "0.3 s");
  EXPECT_EQ(seconds_text(1.8171205928321397), "1.81712 s");
  EXPECT_EQ(seconds_text(60), "60 s");
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(INFINITY), "none");
}

}  // namespace
}  // namespace parshall::tester
