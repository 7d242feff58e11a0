// SPDX-License-Identifier: Apache-2.0
#include "control/recall.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

void add(RecallEstimator& estimator, const std::vector<double>& events) {
  double squares = 0;
  for (const double count : events) squares += count * count;
  estimator.add_window(events.size(), std::accumulate(events.begin(), events.end(), 0.0), squares);
}

TEST(RecallEstimator, WithoutMissedFlowsNothingIsMissed) {
  RecallEstimator estimator;
  EXPECT_EQ(estimator.recall(0)->expected, 1);
  EXPECT_EQ(estimator.recall(0)->at_least, 1);
  add(estimator, {0, 3, 0, 1});
  EXPECT_EQ(estimator.recall(0)->at_least, 1);
}

TEST(RecallEstimator, WhereNobodyWasSeenNothingIsKnown) {
  RecallEstimator estimator;
  EXPECT_FALSE(estimator.recall(5));
  estimator.add_window(0, 0, 0);
  EXPECT_FALSE(estimator.recall(5));
  EXPECT_FALSE(estimator.missed_events_per_flow());
}

TEST(RecallEstimator, AConstantRateIsFoundExactly) {
  RecallEstimator estimator;
  for (int i = 0; i < 20; ++i) add(estimator, {0, 2, 0, 2, 0, 2, 0, 2});
  EXPECT_DOUBLE_EQ(*estimator.missed_events_per_flow(), 1);
  EXPECT_DOUBLE_EQ(estimator.recall(8)->expected, 0.5) << "8 events found, 8 missed";
  EXPECT_LT(estimator.recall(8)->at_least, 0.5);
}

TEST(RecallEstimator, WhereNoFlowHasEventsNoneAreExpectedAndSomeMayBe) {
  RecallEstimator estimator;
  for (int i = 0; i < 20; ++i) add(estimator, std::vector<double>(1000, 0));
  EXPECT_EQ(estimator.recall(1000)->expected, 1);
  EXPECT_EQ(estimator.recall(1000)->at_least, 0) << "of none found, one missed is all";
  add(estimator, std::vector<double>(1000, 0.5));
  EXPECT_GT(estimator.recall(10)->at_least, 0.9) << "500 were found";
}

TEST(RecallEstimator, OnlyTheLastTenWindowsCount) {
  RecallEstimator estimator;
  for (int i = 0; i < 50; ++i) add(estimator, {100, 101, 99, 100});
  for (int i = 0; i < 10; ++i) add(estimator, {1, 2, 1, 2});
  EXPECT_DOUBLE_EQ(*estimator.missed_events_per_flow(), 1.5);
}

TEST(RecallEstimator, AWindowCountsByTheRootOfItsFlowsOverTheirDeviation) {
  RecallEstimator estimator;
  estimator.add_window(400, 400, 400 + 399 * 4.0);  // mean 1, variance 4: weight 10
  estimator.add_window(100, 200, 400 + 99 * 25.0);  // mean 2, variance 25: weight 2
  EXPECT_NEAR(*estimator.missed_events_per_flow(), (10 * 1 + 2 * 2) / 12.0, 1e-12);
}

TEST(RecallEstimator, WindowsThatVaryMoreThanTheirMeanAreTakenForThreeDeviationsMore) {
  RecallEstimator estimator;
  for (int i = 0; i < 9; ++i) add(estimator, {0, 0, 0, 0});
  add(estimator, {100, 100, 100, 100});            // means: nine of 0, one of 100
  const double by_sampling = 1 / 6.0 * 5 / 6 / 4;  // what means of four flows, of which one may be another, differ by
  const double sd = std::sqrt((9 * 10.0 * 10 + 90.0 * 90) / 9 - by_sampling);
  const double mean = 100 / 10.0;  // all windows are as sure: four flows, all alike
  EXPECT_NEAR(*estimator.missed_events_per_flow(), mean + 3 * sd, 1e-9);
}

TEST(RecallEstimator, WindowsThatDifferByChanceAloneDoNotVary) {
  RecallEstimator estimator;
  for (int i = 0; i < 10; ++i) estimator.add_window(4, i == 0 ? 2 : 0, i == 0 ? 2 : 0);
  EXPECT_LT(*estimator.missed_events_per_flow(), 0.05) << "their deviation is three times their mean";
}

/// Windows of `flows` with this mean and variance.
void add(RecallEstimator& estimator, std::uint64_t flows, double mean, double variance) {
  const auto n = static_cast<double>(flows);
  estimator.add_window(flows, n * mean, n * mean * mean + (n - 1) * variance);
}

TEST(RecallEstimator, TheBoundIsOfStudentsTAndOfWhatWindowsDifferBy) {
  RecallEstimator alike;
  for (int i = 0; i < 10; ++i) add(alike, 100, 1, 1);
  const double t = 1.6464;  // of 990 degrees
  const double lean = (t * t - 1) / 6 + 0.5;
  EXPECT_NEAR(alike.recall(100)->at_least, 100 / (100 + 100 + t * std::sqrt(100 + 100) + lean), 1e-5)
      << "what flows differ by, in the mean of those that were seen and in the sum of those that were not";
  for (const auto& [windows, of_few] : {std::pair{2, 6.314}, {3, 2.920}, {6, 2.015}, {10, 1.833}}) {
    RecallEstimator swinging;
    for (int i = 0; i < windows; ++i) add(swinging, 1'000'000, i % 2 == 0 ? 1 : 3, 1e-6);
    const double mean = swinging.recall(1000)->expected, n = windows;
    const double between = std::sqrt((n * n / 4 - (windows % 2) / 4.0) * 4 / n / (n - 1) * (1 + 1 / n));
    const double last = windows % 2 == 0 ? 3 : 1, rate = std::max(last, *swinging.missed_events_per_flow());
    EXPECT_NEAR(swinging.recall(1000)->at_least, last * 1e6 / (last * 1e6 + 1000 * (rate + of_few * between)), 1e-6)
        << windows;
    EXPECT_GT(mean, 0.99);
  }
}

TEST(RecallEstimator, TheBoundIsOfTheWindowsOwnVarianceWhereThatIsTheLarger) {
  const auto bound = [](double last_variance) {
    RecallEstimator estimator;
    for (int i = 0; i < 10; ++i) add(estimator, 100, 5, i < 9 ? 1 : last_variance);
    return estimator.recall(100)->at_least;
  };
  const double t = 1.6464, lean = 16 / 5.0 * ((t * t - 1) / 6 + 0.5);
  EXPECT_NEAR(bound(16), 500 / (1000 + t * std::sqrt(1600 + 1600) + lean), 1e-4);
  EXPECT_NEAR(bound(0.1), bound(1), 2e-3) << "others were as they are";
  RecallEstimator many;
  add(many, 900, 5, 9), add(many, 100, 5, 1);
  const double pooled = 0.9 * 9 + 0.1 * 1, its_lean = pooled / 5 * ((t * t - 1) / 6 + 0.5);
  EXPECT_NEAR(many.recall(100)->at_least, 500 / (1000 + t * std::sqrt(200 * pooled) + its_lean), 1e-4);
}

TEST(RecallEstimator, FlowsThatWereAllAlikeAreNoProofThatAllAre) {
  RecallEstimator estimator;
  add(estimator, {1, 1, 1, 1});
  const double t = 2.353, variance = 5 / 36.0;  // as if of six flows one had been another
  const double lean = variance * ((t * t - 1) / 6 + 0.5);
  EXPECT_NEAR(estimator.recall(4)->at_least, 4 / (8 + t * std::sqrt(4 * variance + 4 * variance) + lean), 1e-9);
}

/// Events of one flow in one window in which there are `rate` times as many as at other times, up to three times.
struct Law {
  const char* name;
  bool is_sparse;  ///< too few events for more than a bound
  std::function<double(SplitMix64&, double rate)> draw;
};

struct Path {
  const char* name;
  std::function<double(int window, SplitMix64&)> rate;
  int from, to;
  bool is_sudden = false;
};

struct Flows {
  const char* name;
  std::uint64_t seen_from, seen_to, missed;
};

/// Binomial thinning of flows by chance, as adaptation does it: what is said of the recall against what it was.
TEST(RecallEstimator, OfFlowsLeftOutByChanceTheRecallIsAsEstimatedAndNotBelowItsBound) {
  const Law laws[] = {
      {"one in ten", false, [](SplitMix64& r, double x) { return r.uniform() < 0.1 * x ? 1.0 : 0.0; }},
      {"one in two hundred", true, [](SplitMix64& r, double x) { return r.uniform() < 0.005 * x ? 1.0 : 0.0; }},
      {"geometric", false,
       [](SplitMix64& r, double x) { return std::floor(std::log(1 - r.uniform()) / std::log(x / (1.5 + x))); }},
      {"heavy tail", false,
       [](SplitMix64& r, double x) {
         return r.uniform() < x / 3 ? std::floor(0.7 * std::pow(1 - r.uniform(), -1 / 2.5)) : 0.0;
       }},
      {"all alike", false, [](SplitMix64&, double x) { return std::round(10 * x); }},
  };
  const Path paths[] = {
      {"stationary", [](int, SplitMix64&) { return 1.0; }, 10, 40},
      {"first ten", [](int, SplitMix64&) { return 1.0; }, 0, 10},
      {"rise", [](int w, SplitMix64&) { return w < 10 ? 1 : 1 + (w - 10) / 10.0; }, 10, 31},
      {"rise at first", [](int w, SplitMix64&) { return 1 + w / 10.0; }, 0, 21},
      {"fall", [](int w, SplitMix64&) { return w < 10 ? 3 : 3 - (w - 10) / 10.0; }, 10, 31},
      {"jump", [](int w, SplitMix64&) { return w < 20 ? 1.0 : 3.0; }, 10, 30, true},
      {"drop", [](int w, SplitMix64&) { return w < 20 ? 3.0 : 1.0; }, 10, 30, true},
      {"any", [](int, SplitMix64& r) { return std::exp(0.6 * (r.uniform() + r.uniform() - 1)); }, 10, 40, true},
  };
  const Flows sizes[] = {{"2 to 10 of some 16", 2, 10, 10}, {"2 to 10 of some 100", 2, 10, 100},
                         {"half of 200", 100, 100, 100},    {"30 % of 2000", 600, 600, 1400},
                         {"95 % of 2000", 1900, 1900, 100}, {"5 % of 2000", 100, 100, 1900}};
  SplitMix64 random(7);
  for (const Law& law : laws)
    for (const Path& path : paths)
      for (const Flows& flows : sizes) {
        SCOPED_TRACE(std::string(law.name) + ", " + path.name + ", " + flows.name);
        double error = 0, over = 0, windows = 0, held = 0;
        std::vector<double> bounds, expected;
        for (int run = 0; run < (flows.missed + flows.seen_to > 1000 ? 25 : 60); ++run) {
          RecallEstimator estimator;
          for (int window = 0; window < path.to; ++window) {
            const double rate = path.rate(window, random);
            const std::uint64_t seen = flows.seen_from + random.below(flows.seen_to - flows.seen_from + 1);
            double found = 0, squares = 0, missed_events = 0;
            for (std::uint64_t flow = 0; flow < seen; ++flow) {
              const double events = law.draw(random, rate);
              found += events;
              squares += events * events;
            }
            for (std::uint64_t flow = 0; flow < flows.missed; ++flow) missed_events += law.draw(random, rate);
            estimator.add_window(seen, found, squares);
            if (window < path.from || found + missed_events == 0) continue;
            const auto recall = estimator.recall(flows.missed);
            const double truth = found / (found + missed_events);
            ASSERT_TRUE(recall);
            ASSERT_LE(recall->at_least, recall->expected);
            error += std::abs(recall->expected - truth);
            over += recall->expected - truth;
            held += truth >= recall->at_least - 1e-12;
            bounds.push_back(recall->at_least), expected.push_back(recall->expected);
            ++windows;
          }
        }
        EXPECT_GE(held / windows, 0.95 - 3 * std::sqrt(0.95 * 0.05 / windows));
        if (flows.seen_to < 100) continue;
        std::ranges::sort(bounds), std::ranges::sort(expected);
        const double median = expected[expected.size() / 2];
        if (law.is_sparse) continue;
        EXPECT_GE(bounds[bounds.size() / 2], median * (flows.missed == 100 && flows.seen_to == 1900 ? 0.9 : 0.45));
        if (path.is_sudden) continue;
        EXPECT_LT(std::abs(over) / windows, 0.08);
        EXPECT_LT(error / windows, flows.seen_to == 100 ? 0.1 : 0.08) << "on average, without regard to the sign";
      }
}

TEST(RecallEstimator, OneHugeWindowMakesItCautiousForTenWindowsAndNoLonger) {
  SplitMix64 random(8);
  RecallEstimator estimator;
  const auto ordinary = [&] {
    std::vector<double> events(500);
    for (double& count : events) count = random.uniform() < 0.2 ? 1 : 0;
    add(estimator, events);
  };
  for (int i = 0; i < 20; ++i) ordinary();
  const double before = estimator.recall(500)->expected;
  EXPECT_NEAR(before, 0.5, 0.1);
  add(estimator, std::vector<double>(500, 1000));
  for (int i = 0; i < 9; ++i) {
    ordinary();
    EXPECT_LT(estimator.recall(500)->expected, 0.05);
  }
  ordinary();
  EXPECT_NEAR(estimator.recall(500)->expected, 0.5, 0.1);
}

TEST(RecallEstimator, WhatWasSeenLongAgoSaysNothing) {
  RecallEstimator estimator;
  for (int i = 0; i < 3; ++i) estimator.add_window(100, 10, 10);
  for (std::size_t i = 0; i + 1 < RecallEstimator::kWindows; ++i) {
    estimator.add_window(0, 0, 0);
    ASSERT_TRUE(estimator.recall(50)) << i;
  }
  estimator.add_window(0, 0, 0);
  EXPECT_FALSE(estimator.recall(50));
  EXPECT_EQ(estimator.recall(0)->expected, 1) << "nothing was missed";
  estimator.add_window(100, 10, 10);
  EXPECT_TRUE(estimator.recall(50));
}

using Counts = RecallByWeight::Counts;

/// Flows of each weight, of which some have an event, some are seen, and some of these have one.
struct Weighed {
  Counts seen{}, found{}, missed{};
  double events = 0;

  /// `kept`: share of the flows of each weight that is seen.
  Weighed(SplitMix64& random, const Counts& flows, const std::array<double, 8>& rates,
          const std::array<double, 8>& kept) {
    for (std::size_t weight = 0; weight < flows.size(); ++weight)
      for (std::uint64_t flow = 0; flow < flows[weight]; ++flow) {
        const bool is_event = random.uniform() < rates[weight], is_seen = random.uniform() < kept[weight];
        events += is_event;
        seen[weight] += is_seen;
        found[weight] += is_seen && is_event;
        missed[weight] += !is_seen;
      }
  }
  double recall() const { return std::accumulate(found.begin(), found.end(), 0.0) / events; }
};

constexpr Counts kFlows{20000, 1500, 800, 400, 200, 80, 30, 20};
constexpr std::array<double, 8> kRates{0.004, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1};

TEST(RecallByWeight, FlowsLeftOutByWeightAreReckonedWithByTheirOwnRates) {
  SplitMix64 random(5);
  for (const double kept : {1.0, 0.7, 0.4}) {
    SCOPED_TRACE(kept);
    RecallByWeight estimator;
    double error = 0, worst = 0, held = 0;
    std::array<double, 8> all{}, light{};
    all.fill(0.8);
    light.fill(kept);
    for (int window = 0; window < 200; ++window) {
      if (window == 20) light[5] = light[6] = light[7] = 0;  // heavy flows go all the way, and are not seen any more
      const Weighed flows(random, kFlows, kRates, window < 10 ? all : light);
      estimator.add_window(flows.seen, flows.found);
      const auto recall = estimator.recall(flows.missed);
      ASSERT_TRUE(recall);
      if (window < 10) continue;
      const double off = std::abs(recall->expected - flows.recall()) / flows.recall();
      error += off / 190;
      worst = std::max(worst, off);
      held += (recall->at_least <= flows.recall()) / 190.0;
    }
    EXPECT_LT(error, 0.04);
    EXPECT_LT(worst, 0.15);
    EXPECT_GT(held, 0.95);
  }
}

TEST(RecallByWeight, OneRateForAllWouldNotDo) {
  SplitMix64 random(5);
  RecallEstimator plain;
  std::array<double, 8> kept{};
  kept.fill(1);
  kept[6] = kept[7] = kept[5] = 0;
  double error = 0;
  for (int window = 0; window < 50; ++window) {
    const Weighed flows(random, kFlows, kRates, kept);
    const double found = std::accumulate(flows.found.begin(), flows.found.end(), 0.0);
    plain.add_window(std::accumulate(flows.seen.begin(), flows.seen.end(), std::uint64_t{0}), found, found);
    error += (plain.recall(130)->expected / flows.recall() - 1) / 50;
  }
  EXPECT_GT(error, 0.1) << "else weights are for nothing";
}

TEST(RecallByWeight, FlowsOfAWeightThatNobodyEverSawHaveTwiceTheEventsOfLighterOnesAndOneAtMost) {
  RecallByWeight estimator;
  EXPECT_EQ(estimator.recall({})->at_least, 1);
  EXPECT_FALSE(estimator.recall({0, 0, 5}));
  for (int window = 0; window < 20; ++window) estimator.add_window({0, 1000}, {0, 100});
  EXPECT_NEAR(estimator.recall({0, 0, 100})->expected, 100 / 120.0, 1e-9);
  EXPECT_NEAR(estimator.recall({0, 0, 100})->at_least, 100 / 200.0, 1e-9);
  EXPECT_NEAR(estimator.recall({0, 0, 0, 0, 0, 0, 100})->expected, 100 / 200.0, 1e-9) << "none has more than one";
  EXPECT_NEAR(estimator.recall({100})->expected, 100 / 110.0, 1e-9) << "lighter ones as many as heavier ones";
}

TEST(RecallByWeight, WhereNoFlowHadEventsSomeOfThoseMissedMay) {
  RecallByWeight estimator;
  for (int window = 0; window < 20; ++window) estimator.add_window({1000}, {0});
  EXPECT_EQ(estimator.recall({1000})->expected, 1);
  EXPECT_EQ(estimator.recall({1000})->at_least, 0) << "of none found, one missed is all";
  EXPECT_EQ(estimator.recall({})->at_least, 1);
  for (int window = 0; window < 20; ++window) estimator.add_window({1000, 1000}, {50, 0});
  EXPECT_LT(estimator.recall({0, 1000})->at_least, 0.99);
  EXPECT_GT(estimator.recall({0, 1000})->at_least, 0.8);
}

}  // namespace
}  // namespace parshall
