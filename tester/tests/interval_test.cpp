// SPDX-License-Identifier: Apache-2.0
#include "tester/interval.hpp"

#include <gtest/gtest.h>

namespace parshall::tester {
namespace {

void expect_is(const std::optional<Ratio>& ratio, double low, double high) {
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->low, low, 0.00005);
  EXPECT_NEAR(ratio->high, high, 0.00005);
}

TEST(Interval, HasTheScoreIntervalsOfNewcombe1998) {  // Statistics in Medicine 17, table I, method 3
  expect_is(ratio_of(81, 263), 0.2553, 0.3662);
  expect_is(ratio_of(15, 148), 0.0624, 0.1605);
  expect_is(ratio_of(0, 20), 0.0, 0.1611);
  expect_is(ratio_of(1, 29), 0.0061, 0.1718);
}

TEST(Interval, EndsAt99PercentWhereTheScoreTestWouldReject) {  // roots of (p - x)^2 n = z^2 x (1 - x), found apart
  expect_is(ratio_of(15, 148, Confidence::percent_99), 0.053645, 0.183267);
  expect_is(ratio_of(81, 263, Confidence::percent_99), 0.240137, 0.385283);
}

TEST(Interval, IsWiderForMoreConfidenceAndStaysWithinZeroAndOne) {
  for (const std::uint64_t whole : {1, 2, 10, 1000, 1'000'000'000}) {
    for (const std::uint64_t part : {std::uint64_t{0}, std::uint64_t{1}, whole / 2, whole - 1, whole}) {
      const Ratio at_95 = *ratio_of(part, whole), at_99 = *ratio_of(part, whole, Confidence::percent_99);
      EXPECT_LE(at_99.low, at_95.low);
      EXPECT_GE(at_99.high, at_95.high);
      EXPECT_TRUE(0 <= at_99.low && at_95.low <= at_95.value && at_95.value <= at_95.high && at_99.high <= 1);
    }
  }
}

TEST(Interval, OfNothingIsNoneNorOfMoreThanAll) {
  EXPECT_FALSE(ratio_of(0, 0));
  EXPECT_FALSE(ratio_of(3, 2));
}

}  // namespace
}  // namespace parshall::tester
