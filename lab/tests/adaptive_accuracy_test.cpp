// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "lab/adaptive/accuracy.hpp"

namespace parshall::lab {
namespace {

constexpr double kThreshold = 0.75;

Outcome with(std::vector<Found> found) {
  Outcome outcome;
  std::ranges::sort(found);
  outcome.found["t"] = std::move(found);
  return outcome;
}

TaskAccuracy judged(const Outcome& outcome, const Outcome& truth, Stretches stretches) {
  return judge("t", outcome, truth, stretches, kThreshold);
}

TEST(AdaptiveAccuracy, AWindowSatisfiesByWhatIsFoundAndByWhatIsNotInvented) {
  // Window 1: all four found; 2: all found, and two invented; 3: two of four; 4: nothing there, one invented; 5:
  // nothing.
  const Outcome truth =
      with({{1, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 1}, {2, 2}, {2, 3}, {2, 4}, {3, 1}, {3, 2}, {3, 3}, {3, 4}});
  const Outcome outcome =
      with({{1, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 1}, {2, 2}, {2, 3}, {2, 4}, {2, 8}, {2, 9}, {3, 1}, {3, 2}, {4, 1}});
  const TaskAccuracy accuracy = judged(outcome, truth, {{1, 5}});
  EXPECT_EQ(accuracy.windows, 5u);
  EXPECT_EQ(accuracy.recalled, 4u) << "all but window 3";
  EXPECT_EQ(accuracy.satisfied, 2u) << "windows 1 and 5";
  EXPECT_DOUBLE_EQ(accuracy.recall, 10.0 / 12);
  EXPECT_DOUBLE_EQ(accuracy.precision, 10.0 / 13);
  EXPECT_DOUBLE_EQ(accuracy.f1, 20.0 / 25);
}

TEST(AdaptiveAccuracy, TheThresholdItselfSatisfies) {
  const Outcome truth = with({{1, 1}, {1, 2}, {1, 3}, {1, 4}});
  const TaskAccuracy accuracy = judged(with({{1, 1}, {1, 2}, {1, 3}, {1, 9}}), truth, {{1, 1}});
  EXPECT_EQ(accuracy.satisfied, 1u);
}

TEST(AdaptiveAccuracy, WhatIsOutsideTheStretchesCountsForNothing) {
  const Outcome truth = with({{1, 1}, {3, 1}, {5, 1}});
  const TaskAccuracy accuracy = judged(with({{1, 1}, {2, 7}, {4, 7}}), truth, {{1, 1}, {5, 5}});
  EXPECT_EQ(accuracy.windows, 2u);
  EXPECT_EQ(accuracy.satisfied, 1u);
  EXPECT_DOUBLE_EQ(accuracy.recall, 0.5);
  EXPECT_DOUBLE_EQ(accuracy.precision, 1);
}

TEST(AdaptiveAccuracy, OfATaskThatFoundNothingAtAllPrecisionIsOneAndRecallNone) {
  const TaskAccuracy accuracy = judged({}, with({{1, 1}}), {{1, 2}});
  EXPECT_EQ(accuracy.satisfied, 1u) << "window 2, in which there is nothing";
  EXPECT_DOUBLE_EQ(accuracy.recall, 0);
  EXPECT_DOUBLE_EQ(accuracy.precision, 1);
  EXPECT_DOUBLE_EQ(accuracy.f1, 0);
}

/// No word says that the recall was 1.
TEST(AdaptiveAccuracy, WhatWasSaidOfTheRecallIsComparedWithIt) {
  std::vector<Found> all, half;
  for (std::uint64_t window = 1; window <= 3; ++window)
    for (std::uint64_t key = 0; key < 20; ++key) {
      all.push_back({window, key});
      if (key < 10) half.push_back({window, key});
    }
  Outcome outcome = with(half);
  outcome.said[{"t", 1}] = Said{0.55, 0.5};
  outcome.said[{"t", 2}] = std::nullopt;
  const TaskAccuracy accuracy = judged(outcome, with(all), {{1, 3}});
  EXPECT_EQ(accuracy.told, 2u);
  EXPECT_EQ(accuracy.held, 1u) << "window 3 has half of its events, and nobody said so";
  EXPECT_EQ(accuracy.judged, 2u);
  EXPECT_NEAR(accuracy.mean_error, (0.1 + 1) / 2, 1e-12);
  EXPECT_NEAR(accuracy.worst_error, 1, 1e-12);
}

/// Windows 1 to 4: a quarter of the flows missed, all, nothing known, and none.
TEST(AdaptiveAccuracy, FlowsThatAreMissedAreAShareOfEachWindowsOfWhichTheyAreKnown) {
  Outcome outcome = with({});
  outcome.flows[{"t", 1}] = {.seen = 30, .seen_in_part = 0, .missed = 10};
  outcome.flows[{"t", 2}] = {.seen = 0, .seen_in_part = 0, .missed = 10};
  outcome.flows[{"t", 4}] = {.seen = 10, .seen_in_part = 0, .missed = 0};
  EXPECT_DOUBLE_EQ(judged(outcome, with({}), {{1, 4}}).missing_share, (0.25 + 1) / 3);
  EXPECT_DOUBLE_EQ(judged(outcome, with({}), {{3, 3}}).missing_share, 0);
}

/// Ten flows, of which four were seen wholly, and those that were not in part not at all.
TEST(AdaptiveAccuracy, AFlowThatIsSeenInPartIsMissedOnce) {
  const auto share = [](FlowsLookedAt flows) {
    Outcome outcome = with({});
    outcome.flows[{"t", 1}] = flows;
    return judged(outcome, with({}), {{1, 1}}).missing_share;
  };
  EXPECT_DOUBLE_EQ(share({.seen = 10, .seen_in_part = 6, .missed = 6}), 0.6);
  EXPECT_DOUBLE_EQ(share({.seen = 6, .seen_in_part = 2, .missed = 6}), 0.6);
  EXPECT_DOUBLE_EQ(share({.seen = 10, .seen_in_part = 10, .missed = 10}), 1) << "all in part";
  EXPECT_DOUBLE_EQ(share({.seen = 0, .seen_in_part = 0, .missed = 0}), 0) << "none of its flows had a packet";
}

/// Ten flows have 1 and 3 events in alternating windows, so that the mean is 0.2 and the deviation of ten windows
/// sqrt(10 / 9) / 10.
TEST(AdaptiveAccuracy, VariationIsOfTenWindowsInARow) {
  std::vector<Found> found;
  Outcome outcome;
  for (std::uint64_t window = 1; window <= 12; ++window) {
    for (std::uint64_t key = 0; key < (window % 2 == 0 ? 3u : 1u); ++key) found.push_back({window, key});
    outcome.flows[{"t", window}] = {.seen = 10, .seen_in_part = 0, .missed = 10};
  }
  outcome.found["t"] = found;
  const Outcome truth = with(found);
  EXPECT_FALSE(judged(outcome, truth, {{1, 9}}).variation);
  EXPECT_NEAR(judged(outcome, truth, {{1, 12}}).variation.value_or(0), std::sqrt(10.0 / 9) / 2, 1e-12);
  EXPECT_FALSE(judged(outcome, truth, {{1, 5}, {8, 12}}).variation) << "ten windows, of two stretches";
  outcome.flows.erase({"t", 6});
  EXPECT_FALSE(judged(outcome, truth, {{1, 12}}).variation) << "no ten windows of which it is known";
}

}  // namespace
}  // namespace parshall::lab
