// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "lab/adaptive/losses.hpp"
#include "lab/adaptive/scenarios.hpp"
#include "pipeline/measure/states/state_plan.hpp"

namespace parshall::lab {
namespace {

constexpr ChangingSkew kFall{.first = 1.5, .last = 1, .packets = 1000};

/// Ten windows a fall, which lose a packet where it is said.
std::vector<WindowLoss> falls(std::size_t count, const std::vector<std::size_t>& lossy) {
  std::vector<WindowLoss> windows(10 * count, {.came = 100, .lost = 0});
  for (const std::size_t window : lossy) windows[window].lost = 1;
  return windows;
}

TEST(AdaptiveLosses, AShareIsOfWhatCame) {
  EXPECT_DOUBLE_EQ(lost_share(falls(2, {3, 7})), 2.0 / 2000);
  EXPECT_DOUBLE_EQ(lost_share({}), 0);
}

TEST(AdaptiveLosses, WhatComesInAWindowGoesByThePaceAndWhatIsNotToldIsNotLost) {
  const std::vector<std::uint64_t> lost{0, 7};
  const std::vector<WindowLoss> windows = losses_by_window(lost, Pace(1e5), 3);
  ASSERT_EQ(windows.size(), 3u);
  for (const WindowLoss& window : windows) EXPECT_NEAR(static_cast<double>(window.came), 1000, 1);
  EXPECT_EQ(windows[1].lost, 7u);
  EXPECT_EQ(windows[2].lost, 0u);
}

TEST(AdaptiveLosses, TheLongestAreThoseInARow) {
  const std::vector<std::uint64_t> lost{1, 0, 2, 3, 1, 0, 9, 9};
  EXPECT_EQ(lossy_windows(lost), 6u);
  EXPECT_EQ(longest_loss(lost), 3u);
  EXPECT_EQ(longest_loss({}), 0u);
}

TEST(AdaptiveLosses, SkewAtLossIsOfTheFirstWindowThatLosesInAFall) {
  EXPECT_DOUBLE_EQ(skew_at_loss(falls(2, {14, 15, 18}), 0, kFall).value_or(0), 1.3);
  EXPECT_DOUBLE_EQ(skew_at_loss(falls(4, {12, 24, 38}), 0, kFall).value_or(0), 1.3) << "the median of 1.4, 1.3 and 1.1";
}

TEST(AdaptiveLosses, AFallWithoutLossGoesToItsEnd) {
  EXPECT_DOUBLE_EQ(skew_at_loss(falls(3, {}), 0, kFall).value_or(0), 1);
  EXPECT_DOUBLE_EQ(skew_at_loss(falls(3, {12}), 0, kFall).value_or(0), 1.2) << "the median of 1.4 and 1";
}

TEST(AdaptiveLosses, AThousandthOfAWindowIsNoLoss) {
  std::vector<WindowLoss> windows(4, {.came = 1000, .lost = 1});
  const ChangingSkew fall{.first = 1.5, .last = 1, .packets = 2000};
  EXPECT_DOUBLE_EQ(skew_at_loss(windows, 0, fall).value_or(0), 1);
  windows[3].lost = 2;
  EXPECT_DOUBLE_EQ(skew_at_loss(windows, 0, fall).value_or(0), 1.25);
}

TEST(AdaptiveLosses, OnlyFallsThatBeginLaterAndEndCount) {
  EXPECT_FALSE(skew_at_loss(falls(1, {5}), 0, kFall)) << "how it began is not seen";
  EXPECT_DOUBLE_EQ(skew_at_loss(falls(3, {2, 14, 26}), 12, kFall).value_or(0), 1.2) << "the second begins too early";
  EXPECT_FALSE(skew_at_loss(falls(2, {14}), 12, kFall));
}

TEST(AdaptiveScenarios, ConfigurationsHaveAsManyStatesAndTasksAsTheyAreCalledBy) {
  for (const StateConfig& config : state_configs()) {
    const auto by = config.name.find('x');
    if (by == config.name.npos) continue;
    std::string text(config.states);
    const auto file = StateFile::parse(text, std::string(config.name));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(std::to_string(file->plan.names.size()), config.name.substr(0, by));
    EXPECT_EQ(std::to_string(file->tasks.size() - 1), config.name.substr(by + 1)) << "beside count";
  }
}

}  // namespace
}  // namespace parshall::lab
