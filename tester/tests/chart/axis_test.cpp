// SPDX-License-Identifier: Apache-2.0
#include "tester/chart/axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace parshall::tester {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> texts(const Axis& axis) {
  std::vector<std::string> all;
  for (const Tick& tick : axis.ticks()) all.push_back(tick.text);
  return all;
}

TEST(Axis, HasTicksOfRoundNumbers) {
  EXPECT_THAT(texts(Axis({}, {0, 100}, 5)), ElementsAre("0", "50", "100"));
  EXPECT_THAT(texts(Axis({}, {1'000'000, 1'010'000}, 6)),
              ElementsAre("1 M", "1.002 M", "1.004 M", "1.006 M", "1.008 M", "1.01 M"));
  EXPECT_THAT(texts(Axis({.whole = true}, {1, 2}, 10)), ElementsAre("1", "2"));
}

TEST(Axis, ThatIsLogarithmicHasDecadesOrWhatIsBetweenThem) {
  const AxisPlan plan{.scale = Scale::logarithmic};
  EXPECT_THAT(texts(Axis(plan, {1, 1'000'000}, 8)), ElementsAre("1", "10", "100", "1 k", "10 k", "100 k", "1 M"));
  EXPECT_THAT(texts(Axis(plan, {1, 1'000'000}, 4)), ElementsAre("1", "100", "10 k", "1 M"));
  EXPECT_THAT(texts(Axis(plan, {10, 100}, 8)), ElementsAre("10", "20", "50", "100"));
  EXPECT_THAT(texts(Axis(plan, {101, 109}, 5)), ElementsAre("102", "104", "106", "108"));
}

TEST(Axis, PlacesValuesInTheirOrderWithinItself) {
  for (const Scale scale : {Scale::linear, Scale::logarithmic, Scale::logarithmic_or_zero}) {
    const Axis axis({.scale = scale}, {1, 10, 1000}, 5);
    const double one = *axis.place(1), ten = *axis.place(10), most = *axis.place(1000);
    EXPECT_TRUE(0 <= one && one < ten && ten < most && most <= 1);
  }
  const Axis axis({.scale = Scale::logarithmic}, {1, 100}, 5);
  EXPECT_NEAR(*axis.place(10), (*axis.place(1) + *axis.place(100)) / 2, 1e-9);
}

TEST(Axis, HasAPlaceForZeroOnlyWhereAskedAndThere) {
  const AxisPlan plan{.scale = Scale::logarithmic_or_zero};
  const Axis with(plan, {0, 0.1, 10}, 5), without(plan, {0.1, 10}, 5),
      not_asked({.scale = Scale::logarithmic}, {0, 1}, 5);
  EXPECT_LT(*with.place(0), *with.gap());
  EXPECT_LT(*with.gap(), *with.place(0.1));
  EXPECT_EQ(texts(with).front(), "0");
  EXPECT_FALSE(without.place(0) || without.gap());
  EXPECT_FALSE(not_asked.place(0));
}

TEST(Axis, OfOneValueHasItInTheMiddle) {
  for (const Scale scale : {Scale::linear, Scale::logarithmic})
    for (const double value : {3.0, 1e9, 1e-3}) {
      const Axis axis({.scale = scale}, {value, value}, 5);
      EXPECT_NEAR(*axis.place(value), 0.5, 1e-6);
      EXPECT_GE(axis.ticks().size(), 2);
    }
  EXPECT_NEAR(*Axis({}, {0}, 5).place(0), 0.5, 1e-9);
}

TEST(Axis, OfNothingGoesFromZeroToOne) {
  for (const Scale scale : {Scale::linear, Scale::logarithmic, Scale::logarithmic_or_zero})
    for (const std::vector<double>& values : {std::vector<double>{}, {NAN, INFINITY}}) {
      const Axis axis({.scale = scale}, values, 5);
      EXPECT_EQ(*axis.place(0.5), 0.5);
      EXPECT_FALSE(axis.place(NAN) || axis.place(INFINITY));
    }
  const Axis zeros({.scale = Scale::logarithmic_or_zero}, {0, 0}, 5);
  EXPECT_TRUE(zeros.place(0));
}

TEST(Axis, BeginsWithAValueThatIsToBeSeen) {
  const Axis axis({.also = 0.0}, {50, 100}, 5);
  EXPECT_EQ(*axis.place(0), 0);
  EXPECT_THAT(texts(axis), ElementsAre("0", "50", "100"));
}

TEST(Axis, HasCategoriesAtEqualDistances) {
  const Axis axis({.categories = {"64", "imix", "1518"}}, {0, 2}, 2);
  EXPECT_THAT(texts(axis), ElementsAre("64", "imix", "1518"));
  EXPECT_DOUBLE_EQ(*axis.place(1), 0.5);
  EXPECT_NEAR(*axis.place(2) - *axis.place(1), *axis.place(1) - *axis.place(0), 1e-12);
}

/// Whatever it is of: few ticks, each of another text, none beyond the ends.
TEST(Axis, HasTicksThatDiffer) {
  for (double low = 1e-6; low < 1e12; low *= 7)
    for (double ratio = 1.0001; ratio < 1e9; ratio *= 3)
      for (const Scale scale : {Scale::linear, Scale::logarithmic, Scale::logarithmic_or_zero}) {
        const Axis axis({.scale = scale}, {low, low * ratio}, 7);
        const auto all = texts(axis);
        EXPECT_GE(all.size(), 2) << low << " " << ratio;
        EXPECT_LE(all.size(), 14) << low << " " << ratio;
        EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size()) << low << " " << ratio << " " << all.front();
        for (const Tick& tick : axis.ticks()) {
          EXPECT_GE(*axis.place(tick.value), -1e-9);
          EXPECT_LE(*axis.place(tick.value), 1 + 1e-9);
        }
      }
}

}  // namespace
}  // namespace parshall::tester
