// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

namespace parshall {
namespace {

/// Chi square over cells that expect at least 20 draws; the last cell takes in the rest.
struct ChiSquare {
  double value = 0;
  double freedom = -1;

  void add(double seen, double expected) {
    value += (seen - expected) * (seen - expected) / expected;
    ++freedom;
  }
  /// In standard deviations above the mean (Wilson and Hilferty 1931).
  double sigmas() const {
    const double v = 2 / (9 * freedom);
    return (std::cbrt(value / freedom) - (1 - v)) / std::sqrt(v);
  }
};

TEST(SplitMix64, GivesTheValuesOfTheReferenceImplementation) {
  SplitMix64 random(1234567);  // test vector of the generator's authors
  EXPECT_EQ(random(), 6457827717110365317ull);
  EXPECT_EQ(random(), 3203168211198807973ull);
  EXPECT_EQ(random(), 9817491932198370423ull);
}

TEST(SplitMix64, BelowReachesEveryValueAndNeverTheBound) {
  SplitMix64 random(7);
  std::vector<unsigned> seen(10);
  for (int i = 0; i < 10'000; ++i) ++seen.at(random.below(10));
  EXPECT_GT(*std::ranges::min_element(seen), 850u);
  EXPECT_LT(*std::ranges::max_element(seen), 1150u);
}

struct Law {
  double exponent;
  std::uint64_t n;
};

class ZipfLaw : public ::testing::TestWithParam<Law> {};

TEST_P(ZipfLaw, RanksComeAsOftenAsTheExactProbabilitiesSay) {
  const auto [exponent, n] = GetParam();
  constexpr std::uint64_t kDraws = 400'000;
  const Zipf zipf(exponent, n);
  SplitMix64 random(42);
  std::vector<std::uint64_t> seen(n);
  for (std::uint64_t i = 0; i < kDraws; ++i) ++seen.at(zipf(random));
  double sum = 0;
  for (std::uint64_t k = 1; k <= n; ++k) sum += std::pow(static_cast<double>(k), -exponent);
  ChiSquare chi;
  double cell_seen = 0, cell_expected = 0;
  for (std::uint64_t k = 0; k < n; ++k) {
    cell_seen += static_cast<double>(seen[k]);
    cell_expected += kDraws * std::pow(static_cast<double>(k + 1), -exponent) / sum;
    if (cell_expected < 20 && k + 1 != n) continue;
    chi.add(cell_seen, cell_expected);
    cell_seen = cell_expected = 0;
  }
  if (chi.freedom > 0) {
    EXPECT_LT(chi.sigmas(), 4.5);
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, ZipfLaw,
                         ::testing::Values(Law{1.1, 1}, Law{1.1, 2}, Law{1.0, 3}, Law{0.5, 1000}, Law{0.99, 10'000},
                                           Law{1.0, 10'000}, Law{1.1, 65'536}, Law{1.5, 1000}, Law{2.5, 100}));

}  // namespace
}  // namespace parshall
