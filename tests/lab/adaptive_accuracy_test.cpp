// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive_accuracy.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace parshall::lab
