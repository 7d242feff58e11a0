// SPDX-License-Identifier: Apache-2.0
#include "base/value_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>

namespace parshall {
namespace {

constexpr double kBinRounding = 1 + 1e-12;
constexpr std::array<double, 11> kProbabilities{0, 1e-9, 0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.99999, 1};

double exact(const std::vector<std::uint64_t>& sorted, double probability) {
  const auto rank = static_cast<std::size_t>(std::ceil(probability * static_cast<double>(sorted.size()) - 1e-9));
  return static_cast<double>(sorted[std::max<std::size_t>(rank, 1) - 1]);
}

void expect_is_of(const ValueHistogram& histogram, std::vector<std::uint64_t> values, double error) {
  std::ranges::sort(values);
  ASSERT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.least(), values.front());
  EXPECT_EQ(histogram.largest(), values.back());
  long double sum = 0;
  for (const std::uint64_t value : values) sum += static_cast<long double>(value);
  EXPECT_DOUBLE_EQ(*histogram.mean(), static_cast<double>(sum / static_cast<long double>(values.size())));
  EXPECT_EQ(histogram.quantile(0), static_cast<double>(values.front()));
  EXPECT_EQ(histogram.quantile(1), static_cast<double>(values.back()));
  for (const double probability : kProbabilities) {
    const double expected = exact(values, probability);
    EXPECT_LE(std::abs(*histogram.quantile(probability) - expected), error * expected * kBinRounding) << probability;
  }
}

TEST(ValueHistogram, IsWithinItsErrorOfWhatSortingTells) {
  std::mt19937_64 random(1);
  for (const double error : {0.002, 0.01, 0.1}) {
    const ValueHistogram empty(error);
    for (const std::size_t length : {1, 2, 3, 7, 99, 100, 101, 1000, 100'001}) {
      SCOPED_TRACE(std::to_string(error) + " " + std::to_string(length));
      std::vector<std::uint64_t> wide(length), narrow(length);
      for (auto& value : wide) value = random() >> (24 + random() % 40);
      for (auto& value : narrow) value = 10'000'000 + random() % 1'000'000;
      for (const auto& values : {wide, narrow}) {
        ValueHistogram histogram = empty;
        for (const std::uint64_t value : values) histogram.add(value);
        expect_is_of(histogram, values, error);
      }
    }
  }
}

TEST(ValueHistogram, CountsTheValuesThatAreLarger) {
  ValueHistogram histogram;
  for (std::uint64_t value = 1; value <= 1000; ++value) histogram.add(value * 1000);
  EXPECT_EQ(histogram.count_above(1'000'000), 0u);
  EXPECT_EQ(histogram.count_above(10), 1000u);
  EXPECT_NEAR(static_cast<double>(histogram.count_above(500'000)), 500, 2);
}

TEST(ValueHistogram, SaysNothingOfNoValues) {
  const ValueHistogram none;
  EXPECT_EQ(none.count(), 0u);
  EXPECT_FALSE(none.least() || none.largest() || none.mean() || none.quantile(0.5) || none.quantile(0));
}

TEST(ValueHistogram, TakesNoMoreThan64KilobytesByDefaultAndLessForLess) {
  EXPECT_LE(ValueHistogram().bytes(), 64'000u);
  EXPECT_LE(ValueHistogram(0.05).bytes(), 2500u);
}

TEST(ValueHistogram, MergedFromPartsIsTheWhole) {
  std::mt19937_64 random(2);
  ValueHistogram parts, rest, whole;
  std::vector<std::uint64_t> values(10'000);
  for (auto& value : values) value = random() >> (24 + random() % 40);
  for (std::size_t i = 0; i < values.size(); ++i) {
    whole.add(values[i]);
    (i % 3 == 0 ? parts : rest).add(values[i]);
  }
  parts.add(rest);
  parts.add(ValueHistogram());
  expect_is_of(parts, values, ValueHistogram::kRelativeError);
  ValueHistogram from_nothing;
  from_nothing.add(parts);
  expect_is_of(from_nothing, values, ValueHistogram::kRelativeError);
  for (const double probability : kProbabilities) EXPECT_EQ(parts.quantile(probability), whole.quantile(probability));
}

TEST(ValueHistogram, KeepsSumAndExtremesOfValuesBeyondItsBins) {
  ValueHistogram histogram;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 3; ++i) histogram.add(most);
  ValueHistogram mixed = histogram;
  mixed.add(5);
  EXPECT_EQ(mixed.quantile(0.5), static_cast<double>(most));
  EXPECT_DOUBLE_EQ(*histogram.mean(), static_cast<double>(most));
  EXPECT_EQ(histogram.quantile(0.5), static_cast<double>(most));
  EXPECT_EQ(histogram.largest(), most);
  EXPECT_EQ(histogram.least(), most);
}

TEST(ValueHistogram, TellsTheRankThatWasMeantWhicheverWayAProbabilityWasRounded) {
  ValueHistogram histogram;
  for (std::uint64_t value = 1; value <= 100; ++value) histogram.add(value);
  EXPECT_EQ(histogram.quantile(0.99), 99);
  EXPECT_EQ(histogram.quantile(0.29), 29);
  EXPECT_EQ(histogram.quantile(0.07), 7);
}

}  // namespace
}  // namespace parshall
