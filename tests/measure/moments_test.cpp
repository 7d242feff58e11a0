// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "one_flow.hpp"
#include "traffic.hpp"

namespace parshall {
namespace {

const std::vector<std::string> kAll{"iat_last", "iat_min",      "iat_max",     "iat_mean",
                                    "iat_sd",   "iat_skewness", "iat_kurtosis"};
const std::vector<std::string> kMerging(kAll.begin() + 1, kAll.end());

struct Oracle {
  long double mean, sd, skewness, kurtosis;
};

/// In two passes and long double. `draw` is called anew for each pass.
template <class Sample>
Oracle two_passes(std::size_t count, Sample sample_at_pass) {
  const auto n = static_cast<long double>(count);
  long double mean = 0, m2 = 0, m3 = 0, m4 = 0;
  auto first = sample_at_pass();
  for (std::size_t i = 0; i < count; ++i) mean += static_cast<long double>(first());
  mean /= n;
  auto second = sample_at_pass();
  for (std::size_t i = 0; i < count; ++i) {
    const long double d = static_cast<long double>(second()) - mean;
    m2 += d * d, m3 += d * d * d, m4 += d * d * d * d;
  }
  return {mean, std::sqrt(m2 / (n - 1)), m3 / n / std::pow(m2 / n, 1.5L), m4 / n / (m2 / n * (m2 / n)) - 3};
}

Oracle oracle_of(const std::vector<std::uint64_t>& samples) {
  return two_passes(samples.size(), [&] { return [&samples, i = std::size_t{0}]() mutable { return samples[i++]; }; });
}

void expect_near(const OneFlow& flow, const Oracle& oracle, double tolerance) {
  const auto close = [&](const char* column, long double expected) {
    ASSERT_TRUE(flow[column]) << column;
    const auto wanted = static_cast<double>(expected);
    EXPECT_NEAR(*flow[column], wanted, tolerance * std::max(1.0, std::abs(wanted))) << column;
  };
  close("iat_mean_ns", oracle.mean);
  close("iat_sd_ns", oracle.sd);
  close("iat_skewness", oracle.skewness);
  close("iat_kurtosis", oracle.kurtosis);
}

TEST(Moments, AreTheTextbookValuesOfEightNumbers) {
  OneFlow flow(kAll);
  flow.add(std::array<std::uint64_t, 8>{2, 4, 4, 4, 5, 5, 9, 7});
  EXPECT_EQ(flow["iat_last_ns"], 7);
  EXPECT_EQ(flow["iat_min_ns"], 2);
  EXPECT_EQ(flow["iat_max_ns"], 9);
  EXPECT_DOUBLE_EQ(*flow["iat_mean_ns"], 5);
  EXPECT_DOUBLE_EQ(*flow["iat_sd_ns"], std::sqrt(32.0 / 7));
  EXPECT_NEAR(*flow["iat_skewness"], 0.65625, 1e-14);
  EXPECT_NEAR(*flow["iat_kurtosis"], -0.21875, 1e-14);
}

TEST(Moments, AnswerTheSameAloneAndTogether) {
  const auto samples = draw(kLognormal, 1000, 5);
  OneFlow together(kAll);
  together.add(samples);
  for (const std::string& name : kAll) {
    OneFlow alone({name});
    alone.add(samples);
    const std::string column = alone.set().columns()[0].name;
    EXPECT_NEAR(*alone[column], *together[column], 1e-12 * std::abs(*together[column])) << column;
  }
}

TEST(Moments, ThatDoNotExistAreAbsent) {
  OneFlow flow(kAll);
  flow.add(std::array<std::uint64_t, 1>{0});
  for (const char* column : {"iat_last_ns", "iat_min_ns", "iat_max_ns", "iat_mean_ns"})
    EXPECT_EQ(flow[column], 0) << column;
  for (const char* column : {"iat_sd_ns", "iat_skewness", "iat_kurtosis"}) EXPECT_FALSE(flow[column]) << column;
  flow.add(std::vector<std::uint64_t>(99, 0));
  EXPECT_EQ(flow["iat_sd_ns"], 0);
  EXPECT_FALSE(flow["iat_skewness"]);
  EXPECT_FALSE(flow["iat_kurtosis"]);
}

TEST(Moments, OfAConstantAreExact) {
  OneFlow flow(kAll);
  flow.add(std::vector<std::uint64_t>(100'000, 1'234'567'891));
  EXPECT_EQ(flow["iat_mean_ns"], 1'234'567'891);
  EXPECT_EQ(flow["iat_sd_ns"], 0);
  EXPECT_FALSE(flow["iat_skewness"]);
}

TEST(Moments, AgreeWithTwoPassesOnEveryShapeOfData) {
  for (const Distribution& distribution : {kUniform, kExponential, kLognormal, kBimodal, kZeroOrOne, kZipf}) {
    for (const std::size_t length : {2u, 3u, 10u, 1000u, 100'000u}) {
      SCOPED_TRACE(std::string(distribution.name) + " " + std::to_string(length));
      auto samples = draw(distribution, length, length);
      samples[0] = samples[1] + 1;  // never constant
      for (const bool ascending : {false, true}) {
        if (ascending) std::ranges::sort(samples);
        OneFlow flow(kAll);
        flow.add(samples);
        expect_near(flow, oracle_of(samples), 1e-9);
      }
    }
  }
}

TEST(Moments, AreStableOverTwoToThe25SamplesFarFromZero) {
  constexpr std::size_t kCount = std::size_t{1} << 25;
  const auto start = [] {
    return [state = std::uint64_t{88172645463325252}]() mutable {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;  // Marsaglia's xorshift64
      const std::uint64_t noise = state % 1000;
      return 1'000'000'000 + noise * noise / 1000;
    };
  };
  OneFlow flow(kAll), mean_only({"iat_mean"});
  auto sample = start();
  std::array<std::uint64_t, kStatBatch> batch;
  for (std::size_t i = 0; i < kCount; i += batch.size()) {
    for (auto& slot : batch) slot = sample();
    flow.add(batch);
    mean_only.add(batch);
  }
  const Oracle oracle = two_passes(kCount, start);
  expect_near(flow, oracle, 1e-9);
  EXPECT_DOUBLE_EQ(*mean_only["iat_mean_ns"], static_cast<double>(oracle.mean));
}

TEST(Moments, MergedFromPartsEqualTheWhole) {
  const auto samples = draw(kExponential, 10'000, 9);
  OneFlow whole(kMerging), merged(kMerging);
  whole.add(samples);
  for (std::size_t at = 0, size = 0; at < samples.size(); at += size, size = size * 2 + 1) {
    OneFlow part(kMerging);
    part.add(std::span(samples).subspan(at, std::min(size, samples.size() - at)));
    merged.merge(part);
  }
  for (const Column& column : whole.set().columns()) {
    EXPECT_NEAR(*merged[column.name], *whole[column.name], 1e-10 * *whole[column.name]) << column.name;
  }
}

TEST(Moments, MergingWithAnEmptyRowChangesNothing) {
  const auto samples = draw(kUniform, 100, 1);
  OneFlow full(kMerging), other(kMerging), empty(kMerging);
  full.add(samples);
  other.add(samples);
  other.merge(empty);
  empty.merge(full);
  for (const Column& column : full.set().columns()) {
    EXPECT_EQ(other[column.name], full[column.name]) << column.name;
    EXPECT_DOUBLE_EQ(*empty[column.name], *full[column.name]) << column.name;
  }
}

}  // namespace
}  // namespace parshall
