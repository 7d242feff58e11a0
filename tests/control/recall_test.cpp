// SPDX-License-Identifier: Apache-2.0
#include "control/recall.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
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
  add(estimator, {100, 100, 100, 100});  // means: nine of 0, one of 100
  const double sd = std::sqrt((9 * 10.0 * 10 + 90.0 * 90) / 9);
  const double mean = 100 / 10.0;  // all windows are as sure: four flows, all alike
  EXPECT_NEAR(*estimator.missed_events_per_flow(), mean + 3 * sd, 1e-9);
}

/// Events of one flow in one window.
struct Law {
  const char* name;
  double largest_error;  ///< of the recall, on average: there may be few events to go by
  std::function<double(SplitMix64&)> draw;
};

/// Binomial thinning of flows by chance, as adaptation does it: what is said of the recall against what it was.
TEST(RecallEstimator, OfFlowsLeftOutByChanceTheRecallIsAsEstimatedAndNotBelowItsBound) {
  const Law laws[] = {
      {"one in ten", 0.05, [](SplitMix64& r) { return r.uniform() < 0.1 ? 1.0 : 0.0; }},
      {"one in two hundred", 0.15, [](SplitMix64& r) { return r.uniform() < 0.005 ? 1.0 : 0.0; }},
      {"geometric", 0.05, [](SplitMix64& r) { return std::floor(std::log(1 - r.uniform()) / std::log(0.7)); }},
      {"heavy tail", 0.08, [](SplitMix64& r) { return std::floor(0.3 * std::pow(1 - r.uniform(), -1 / 2.5)); }},
  };
  for (const Law& law : laws)
    for (const double missed_share : {0.05, 0.3, 0.7, 0.95}) {
      SCOPED_TRACE(law.name + std::string(", missed ") + std::to_string(missed_share));
      SplitMix64 random(7);
      RecallEstimator estimator;
      double error = 0;
      int windows = 0, held = 0;
      for (int window = 0; window < 1200; ++window) {
        double found = 0, squares = 0, missed_events = 0;
        std::uint64_t seen = 0, missed = 0;
        for (int flow = 0; flow < 2000; ++flow) {
          const double events = law.draw(random);
          if (random.uniform() < missed_share) {
            ++missed;
            missed_events += events;
          } else {
            ++seen;
            found += events;
            squares += events * events;
          }
        }
        estimator.add_window(seen, found, squares);
        if (window < 10 || found + missed_events == 0) continue;
        const auto recall = estimator.recall(missed);
        const double truth = found / (found + missed_events);
        ASSERT_TRUE(recall);
        ASSERT_LE(recall->at_least, recall->expected);
        error += std::abs(recall->expected - truth);
        held += truth >= recall->at_least;
        ++windows;
      }
      EXPECT_GE(held, 0.94 * windows);
      EXPECT_LT(error / windows, law.largest_error);
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

}  // namespace
}  // namespace parshall
