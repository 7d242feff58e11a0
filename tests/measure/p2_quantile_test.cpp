// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/p2_quantile.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/random.hpp"
#include "one_flow.hpp"
#include "traffic.hpp"

namespace parshall {
namespace {

bool has_vector_form() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
#else
  return true;
#endif
}

/// Updates a state by the scalar form, and two others with whole samples: by either form, which it holds to the same
/// bits.
class Both {
 public:
  explicit Both(double probability) : target_(probability) {}

  void add(double sample) {
    state_.update_scalar(sample, target_);
    if (!has_vector_form()) return;
    const auto whole = static_cast<std::uint64_t>(sample * kScale);
    std::byte* const row = reinterpret_cast<std::byte*>(&vector_);
    P2Quantile::update_vector({{&row, 1}, 0, {&whole, 1}}, target_);
    scalar_.update_scalar(static_cast<double>(whole), target_);
    same_ &= std::memcmp(&scalar_, &vector_, sizeof scalar_) == 0;
  }
  void set(const P2Quantile& state) {
    state_ = scalar_ = state;
    std::array<double, 5> heights;
    for (std::size_t i = 0; i < 5; ++i) heights[i] = kScale * state.height(static_cast<int>(i));
    std::memcpy(static_cast<void*>(&scalar_), heights.data(), sizeof heights);  // they come first
    vector_ = scalar_;
  }
  bool same() const { return same_; }
  const P2Quantile& state() const { return state_; }
  double value() const { return *state_.value(target_); }

 private:
  static constexpr double kScale = 1024;

  P2Target target_;
  P2Quantile state_{}, scalar_{}, vector_{};
  bool same_ = true;
};

bool well_formed(const P2Quantile& state) {
  bool well = true;
  for (int i = 0; i + 1 < P2Quantile::kMarkers; ++i) {
    well &= state.height(i) <= state.height(i + 1) && state.position(i) < state.position(i + 1);
  }
  return well;
}

/// A state as if it had seen `count` samples that lie evenly in [0, 1].
P2Quantile evenly_filled(const P2Target& target, std::uint32_t count) {
  std::array<double, 7> words{0, target.share[0], target.share[1], target.share[2], 1};
  std::array<std::uint32_t, 4> positions{0, 0, 0, count};
  for (std::size_t i = 0; i < 3; ++i) positions[i] = static_cast<std::uint32_t>(1 + (count - 1.0) * target.share[i]);
  std::memcpy(&words[5], positions.data(), sizeof positions);
  return std::bit_cast<P2Quantile>(words);
}

struct Step {
  std::array<double, 5> heights;
  std::array<std::uint32_t, 5> positions;
};

constexpr std::array<double, 20> kObservations{0.02,  0.15,  0.74, 3.39, 0.83, 22.37, 10.15, 15.43, 38.62, 15.92,
                                               34.60, 10.28, 1.47, 0.40, 0.05, 11.39, 0.27,  0.42,  0.09,  11.37};

// The paper's table I from the 6th observation on, computed anew in exact fractions (the print is rounded).
constexpr std::array<Step, 15> kTable{{
    {{0.02, 0.15, 0.74, 0.83, 22.37}, {1, 2, 3, 4, 6}},
    {{0.02, 0.15, 0.74, 4.465, 22.37}, {1, 2, 3, 5, 7}},
    {{0.02, 0.15, 2.178333333333, 8.5925, 22.37}, {1, 2, 4, 6, 8}},
    {{0.02, 0.869444444444, 4.752685185185, 15.516990740741, 38.62}, {1, 3, 5, 7, 9}},
    {{0.02, 0.869444444444, 4.752685185185, 15.516990740741, 38.62}, {1, 3, 5, 7, 10}},
    {{0.02, 0.869444444444, 9.274704861111, 21.572663194444, 38.62}, {1, 3, 6, 8, 11}},
    {{0.02, 0.869444444444, 9.274704861111, 21.572663194444, 38.62}, {1, 3, 6, 9, 12}},
    {{0.02, 2.132463107639, 9.274704861111, 21.572663194444, 38.62}, {1, 4, 7, 10, 13}},
    {{0.02, 2.132463107639, 9.274704861111, 21.572663194444, 38.62}, {1, 5, 8, 11, 14}},
    {{0.02, 0.730843171296, 6.297302000661, 21.572663194444, 38.62}, {1, 5, 8, 12, 15}},
    {{0.02, 0.730843171296, 6.297302000661, 21.572663194444, 38.62}, {1, 5, 8, 13, 16}},
    {{0.02, 0.588674537037, 6.297302000661, 17.203904274140, 38.62}, {1, 5, 9, 13, 17}},
    {{0.02, 0.588674537037, 6.297302000661, 17.203904274140, 38.62}, {1, 6, 10, 14, 18}},
    {{0.02, 0.493895447531, 4.440634353260, 17.203904274140, 38.62}, {1, 6, 10, 15, 19}},
    {{0.02, 0.493895447531, 4.440634353260, 17.203904274140, 38.62}, {1, 6, 10, 16, 20}},
}};

TEST(P2Quantile, FollowsTheWorkedExampleOfJainAndChlamtacAtEveryStep) {
  Both median(0.5);
  for (std::size_t n = 0; n < kObservations.size(); ++n) {
    median.add(kObservations[n]);
    if (n < 5) continue;
    for (int i = 0; i < P2Quantile::kMarkers; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_NEAR(median.state().height(i), kTable[n - 5].heights[at], 1e-9) << "observation " << n + 1;
      EXPECT_EQ(median.state().position(i), kTable[n - 5].positions[at]) << "observation " << n + 1;
    }
  }
  EXPECT_TRUE(median.same());
}

TEST(P2Quantile, IsTheExactOrderStatisticBelowFiveSamples) {
  const std::array<double, 4> samples{9, 2, 7, 4};
  for (const double p : {0.01, 0.25, 0.26, 0.5, 0.51, 0.75, 0.99}) {
    Both quantile(p);
    std::vector<double> sorted;
    for (const double sample : samples) {
      quantile.add(sample);
      sorted.push_back(sample);
      std::ranges::sort(sorted);
      const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(sorted.size())));
      EXPECT_EQ(quantile.value(), sorted[rank - 1]) << p << " of " << sorted.size();
    }
  }
}

TEST(P2Quantile, KeepsItsMarkersInOrderAndBothFormsTheSameBitsOnAllData) {
  for (const Distribution& distribution : {kUniform, kZipf, kExponential, kLognormal, kBimodal, kZeroOrOne}) {
    for (const double p : {0.001, 0.1, 0.5, 0.9, 0.99, 0.9999}) {
      SCOPED_TRACE(std::string(distribution.name) + " " + std::to_string(p));
      Both quantile(p);
      const auto samples = draw(distribution, 20'000, 3);
      double low = 1e300, high = 0;
      for (const std::uint64_t sample : samples) {
        const auto x = static_cast<double>(sample);
        low = std::min(low, x), high = std::max(high, x);
        quantile.add(x);
        if (quantile.state().count() < 5) continue;
        ASSERT_TRUE(well_formed(quantile.state()));
        ASSERT_EQ(quantile.state().height(0), low);
        ASSERT_EQ(quantile.state().height(4), high);
      }
      EXPECT_EQ(quantile.state().count(), samples.size());
      EXPECT_EQ(quantile.state().position(0), 1u);
      EXPECT_EQ(quantile.state().position(4), samples.size());
      EXPECT_TRUE(quantile.same());
    }
  }
}

TEST(P2Quantile, ABatchOfManyFlowsHasTheBitsOfOneSampleAtATime) {
  if (!has_vector_form()) GTEST_SKIP() << "no AVX-512";
  constexpr std::size_t kFlows = 40;
  SplitMix64 random(11);
  for (const double p : {0.001, 0.5, 0.99}) {
    const P2Target target(p);
    std::array<P2Quantile, kFlows> scalar{}, vector{};
    for (int round = 0; round < 4000; ++round) {
      // Between all flows in turn, and one flow again and again.
      const std::size_t flows = 1 + random.below(kFlows), size = random.below(kStatBatch + 1);
      std::vector<std::byte*> rows;
      std::vector<std::uint64_t> samples;
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t flow = random.below(flows);
        rows.push_back(reinterpret_cast<std::byte*>(&vector[flow]));
        samples.push_back(random.below(2) == 0 ? random.below(4) : random() >> random.below(64));
        scalar[flow].update_scalar(static_cast<double>(samples.back()), target);
      }
      P2Quantile::update_vector({rows, 0, samples}, target);
      ASSERT_EQ(std::memcmp(scalar.data(), vector.data(), sizeof scalar), 0) << p << ", round " << round;
    }
    EXPECT_GT(scalar[0].count(), 1000u);
  }
}

TEST(P2Quantile, ABatchOfOneFlowHalvesItsCountsWhereOneSampleAtATimeDoes) {
  if (!has_vector_form()) GTEST_SKIP() << "no AVX-512";
  const P2Target target(0.5);
  P2Quantile scalar = evenly_filled(target, P2Quantile::kMaxCount - 10), vector = scalar;
  std::array<std::byte*, kStatBatch> rows;
  rows.fill(reinterpret_cast<std::byte*>(&vector));
  std::array<std::uint64_t, kStatBatch> samples;
  SplitMix64 random(12);
  for (std::uint64_t& sample : samples) {
    sample = random.below(2);
    scalar.update_scalar(static_cast<double>(sample), target);
  }
  P2Quantile::update_vector({rows, 0, samples}, target);
  EXPECT_LT(vector.count(), P2Quantile::kMaxCount / 2 + kStatBatch);
  EXPECT_EQ(std::memcmp(&scalar, &vector, sizeof scalar), 0);
}

TEST(P2Quantile, IsExactOnAConstant) {
  Both quantile(0.99);
  for (int i = 0; i < 10'000; ++i) {
    quantile.add(1234567.0);
    ASSERT_EQ(quantile.value(), 1234567.0);
  }
  EXPECT_TRUE(quantile.same());
}

TEST(P2Quantile, FollowsAscendingAndDescendingData) {
  for (const double p : {0.1, 0.5, 0.99}) {
    Both ascending(p), descending(p);
    for (int i = 1; i <= 100'000; ++i) {
      ascending.add(i);
      descending.add(100'001 - i);
    }
    EXPECT_NEAR(ascending.value(), p * 100'000, 1000) << p;
    EXPECT_NEAR(descending.value(), p * 100'000, 1000) << p;
    EXPECT_TRUE(ascending.same() && descending.same());
  }
}

TEST(P2Quantile, OfMostlyZerosIsZeroUpToATolerance) {
  Both median(0.5);
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) median.add(unit_interval(random) < 0.7 ? 0 : 100 * unit_interval(random));
  EXPECT_NEAR(median.value(), 0, 0.01);
  EXPECT_TRUE(median.same());
}

TEST(P2Quantile, IsWithinOnePercentOnManyExponentialSamples) {
  for (const double p : {0.5, 0.99}) {
    Both quantile(p);
    std::mt19937_64 random(11);
    for (int i = 0; i < 100'000; ++i) quantile.add(exponential(random, 1));
    EXPECT_NEAR(quantile.value() / -std::log1p(-p), 1, 0.01) << p;
  }
}

TEST(P2Quantile, StillMovesAfterTwoToThe25Samples) {
  OneFlow flow({"gap_p99"}, {QuantileMethod::p2, 0.05});
  std::mt19937_64 random(3);
  std::array<std::uint64_t, kStatBatch> batch;
  const auto feed = [&](std::size_t count, std::uint64_t offset) {
    for (std::size_t i = 0; i < count; i += batch.size()) {
      for (auto& sample : batch) sample = offset + random() % 1'000'000;
      flow.add(batch);
    }
  };
  feed(std::size_t{1} << 25, 0);
  EXPECT_NEAR(*flow["gap_p99_packets"], 990'000, 1000);
  feed(std::size_t{1} << 22, 2'000'000);  // a ninth of all: the 99th percentile is among them
  EXPECT_NEAR(*flow["gap_p99_packets"], 2'910'000, 30'000);
}

TEST(P2Quantile, HalvesItsCountsAtTwoToThe31AndGoesOn) {
  for (const double p : {0.5, 0.99}) {
    Both quantile(p);
    quantile.set(evenly_filled(P2Target(p), P2Quantile::kMaxCount - 1000));
    std::mt19937_64 random(7);
    std::uint32_t most = 0;
    for (int i = 0; i < 1'000'000; ++i) {
      quantile.add(unit_interval(random));
      most = std::max(most, quantile.state().count());
      ASSERT_TRUE(well_formed(quantile.state())) << i;
    }
    EXPECT_EQ(most, P2Quantile::kMaxCount);
    EXPECT_EQ(quantile.state().count(), P2Quantile::kMaxCount / 2 + 1'000'000 - 1000);
    EXPECT_NEAR(quantile.value(), p, 1e-3);
    for (int i = 1; i <= 3; ++i) {
      const double share = P2Target(p).share[static_cast<std::size_t>(i) - 1];
      EXPECT_NEAR(quantile.state().position(i) / static_cast<double>(quantile.state().count()), share, 1e-3);
    }
    EXPECT_TRUE(quantile.same());
  }
}

TEST(P2Quantile, KeepsMarkersApartWhenTheyAreHalvedNextToEachOther) {
  constexpr std::uint32_t kLast = P2Quantile::kMaxCount;
  const std::array<std::array<std::uint32_t, 4>, 4> crowded{
      {{2, 3, 4, kLast}, {6, 7, 8, kLast}, {500, 501, 502, kLast}, {kLast - 3, kLast - 2, kLast - 1, kLast}}};
  for (const auto& positions : crowded) {
    for (const double p : {1e-9, 1 - 1e-9}) {
      auto words = std::bit_cast<std::array<double, 7>>(evenly_filled(P2Target(p), kLast));
      std::memcpy(&words[5], positions.data(), sizeof positions);
      Both quantile(p);
      quantile.set(std::bit_cast<P2Quantile>(words));
      quantile.add(1);  // above all inner markers, so that none of them moves
      EXPECT_TRUE(well_formed(quantile.state())) << positions[0];
      EXPECT_TRUE(quantile.same());
    }
  }
}

TEST(P2Quantile, OfARowIsTheValueTypesOwn) {
  const auto samples = draw(kLognormal, 5000, 8);
  OneFlow flow({"gap_p90"}, {QuantileMethod::p2, 0.05});
  flow.add(samples);
  Both quantile(0.9);
  for (const std::uint64_t sample : samples) quantile.add(static_cast<double>(sample));
  EXPECT_EQ(flow["gap_p90_packets"], quantile.value());
}

}  // namespace
}  // namespace parshall
