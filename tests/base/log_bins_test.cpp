// SPDX-License-Identifier: Apache-2.0
#include "base/log_bins.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace parshall {
namespace {

constexpr double kRounding = 1 + 1e-12;

TEST(LogBins, ReportEveryValueWithinTheErrorAndInOrder) {
  for (const double error : {0.45, 0.2, 0.05, 0.02, 0.01, 0.001}) {
    const LogBins bins(error, 40);
    std::size_t before = 0;
    const auto check = [&](std::uint64_t value) {
      const std::size_t bin = bins.bin_of(value);
      ASSERT_GE(bin, before) << value;
      ASSERT_LT(bin, bins.count()) << value;
      before = bin;
      const auto exact = static_cast<double>(value);
      ASSERT_LE(std::abs(bins.report(bin) - exact), error * exact * kRounding) << value << " at " << error;
    };
    for (std::uint64_t value = 0; value < 1 << 20; ++value) check(value);
    for (std::uint64_t value = 1 << 20; value < std::uint64_t{1} << 40; value += 1 + value / 65'537) check(value);
    check(bins.largest());
  }
}

TEST(LogBins, ReachTheWorstErrorTheyPromiseWithFewBins) {
  EXPECT_EQ(LogBins(0.05, 40).bins_per_octave(), 8u);
  EXPECT_EQ(LogBins(0.05, 40).count(), 304u);
  EXPECT_LE(LogBins(0.01, 40).bins_per_octave(), 38u);  // the logarithm itself needs 35, equal widths 50
  EXPECT_LE(LogBins(1e-4, 40).count() * sizeof(std::uint32_t), 540'000u);
}

}  // namespace
}  // namespace parshall
