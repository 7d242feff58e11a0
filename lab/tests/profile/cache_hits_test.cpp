// SPDX-License-Identifier: Apache-2.0
#include "lab/profile/cache_hits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "lab/tests/profile/retrievals.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;
using enum RetrievalFamily;

RetrievalModel paper_hit() { return model_of(gumbel, 90, 0.11); }
RetrievalModel paper_miss() { return model_of(gumbel, 200, 0.225); }
CacheHits paper_hits() { return *CacheHits::make(paper_hit(), paper_miss()); }

/// Adds samples of which each is a hit with probability `share`.
void sample(CacheHits& hits, double share, int count, SplitMix64& random) {
  const RetrievalModel hit = paper_hit(), miss = paper_miss();
  for (int i = 0; i < count; ++i) hits.add(draw(random.uniform() < share ? hit : miss, random));
}

TEST(CacheHits, ThePapersModelsHaveTheirThresholdAndError) {
  EXPECT_NEAR(paper_hits().threshold_ns(), 123.676412917547735, 1e-9);
  EXPECT_NEAR(paper_hits().mistaken_share(), 0.00712898426110533, 1e-12);
}

TEST(CacheHits, TheThresholdDecidesAsThePapersTwoCdfs) {
  const std::vector<std::pair<RetrievalModel, RetrievalModel>> pairs{
      {paper_hit(), paper_miss()},
      {model_of(normal, 90, 0.11), model_of(weibull, 200, 0.225)},
      {model_of(weibull, 60, 0.4), model_of(normal, 150, 0.3)},
      {model_of(gumbel, 10, 0.01), model_of(gumbel, 390, 0.01)},
  };
  for (const auto& [hit, miss] : pairs) {
    auto hits = CacheHits::make(hit, miss);
    ASSERT_TRUE(hits);
    for (double t = 0.05; t < 400; t += 0.1) {
      const std::uint64_t before = hits->quick_samples();
      hits->add(t);
      ASSERT_EQ(hits->quick_samples() - before, 1 - hit.cdf(t) >= miss.cdf(t)) << t;
    }
    const double last = hits->threshold_ns(), next = std::nextafter(last, 1e9);
    EXPECT_GE(hit.survival(last), miss.cdf(last));
    EXPECT_LT(hit.survival(next), miss.cdf(next));
    hits->reset();
    hits->add(last);
    hits->add(next);
    EXPECT_EQ(hits->quick_samples(), 1u);
    EXPECT_NEAR(hits->mistaken_share(), hit.survival(hits->threshold_ns()), 1e-12) << "as many hits as misses";
  }
}

TEST(CacheHits, TheThresholdOfModelsFarApartIsBetweenThem) {
  const auto hits = CacheHits::make({normal, 10, 1}, {normal, 120, 10});  // 10 sd from both at 20
  ASSERT_TRUE(hits);
  EXPECT_NEAR(hits->threshold_ns(), 20, 1e-9);
  EXPECT_NEAR(hits->mistaken_share() / 7.619853024160526e-24, 1, 1e-9);
}

TEST(CacheHits, TheRawShareIsBiasedByTheKnownError) {
  constexpr int kSamples = 100'000;
  SplitMix64 random(1);
  for (const double share : {0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0}) {
    CacheHits hits = paper_hits();
    sample(hits, share, kSamples, random);
    EXPECT_EQ(hits.samples(), std::uint64_t{kSamples});
    const double e = hits.mistaken_share(), raw = static_cast<double>(hits.quick_samples()) / kSamples;
    const double sampling = std::sqrt(share * (1 - share) / kSamples) + std::sqrt(e * (1 - e) / kSamples);
    EXPECT_NEAR(raw, share * (1 - 2 * e) + e, 4 * sampling + 1e-3) << share;
    EXPECT_NEAR(hits.estimate()->share, share, 4 * sampling + 1e-3) << share;
  }
}

TEST(CacheHits, TheEstimateIsUnbiasedAndItsStandardErrorTrue) {
  constexpr int kRepetitions = 2000, kSamples = 1000;
  SplitMix64 random(2);
  for (const double share : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    CacheHits hits = paper_hits();
    double sum = 0, squares = 0, told = 0;
    for (int i = 0; i < kRepetitions; ++i) {
      hits.reset();
      sample(hits, share, kSamples, random);
      const CacheHits::Estimate estimate = *hits.estimate();
      sum += estimate.share - share;
      squares += (estimate.share - share) * (estimate.share - share);
      told += estimate.standard_error / kRepetitions;
    }
    const double sd = std::sqrt(squares / kRepetitions);
    EXPECT_LT(std::fabs(sum / kRepetitions), 3 * sd / std::sqrt(kRepetitions)) << share;
    EXPECT_NEAR(told / sd, 1, 4 / std::sqrt(2.0 * kRepetitions)) << share;
  }
}

TEST(CacheHits, SharesStayWithin0And1AndNeverSeemExact) {
  CacheHits hits = paper_hits();
  EXPECT_FALSE(hits.estimate());
  const double e = hits.mistaken_share();
  for (const bool quick : {false, true}) {
    hits.reset();
    EXPECT_FALSE(hits.estimate());
    for (int i = 0; i < 100; ++i) hits.add(quick ? 50 : 500);
    EXPECT_EQ(hits.estimate()->share, quick ? 1 : 0);
    EXPECT_NEAR(hits.estimate()->standard_error, std::sqrt(e * (1 - e) / 100) / (1 - 2 * e), 1e-12);
  }
}

TEST(CacheHits, ModelsThatCannotBeToldApartAreRefused) {
  const auto refusal = [](const RetrievalModel& hit, const RetrievalModel& miss) {
    const auto hits = CacheHits::make(hit, miss);
    return hits ? "accepted" : hits.error().message;
  };
  EXPECT_THAT(refusal(paper_miss(), paper_hit()), HasSubstr("a hit takes 200 ns and a miss 90"));
  EXPECT_THAT(refusal(paper_hit(), paper_hit()), HasSubstr("a hit takes 90 ns and a miss 90"));
  EXPECT_THAT(refusal(paper_hit(), {gumbel, std::nan(""), 1}), HasSubstr("cannot tell"));
  // Two normals of equal sd are mistaken for each other in 0.25 of times where they are 1.349 of it apart.
  EXPECT_THAT(refusal({normal, 90, 10}, {normal, 103.4, 10}), HasSubstr("0.25 of each"));
  EXPECT_EQ(refusal({normal, 90, 10}, {normal, 103.6, 10}), "accepted");
}

}  // namespace
}  // namespace parshall::lab
