// SPDX-License-Identifier: Apache-2.0
#include "control/flood_switch.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace parshall {
namespace {

constexpr double kFloodWindowNs = 1e7;

/// Of a window in which inserting takes this share of the time that packets take, which is `busy` of all time.
FloodWindow window(double insert_share, double busy = 0.9) {
  const double all_ns = busy * kFloodWindowNs;
  return {kFloodWindowNs, insert_share * all_ns / FloodSwitch::kInsertNs, (1 - insert_share) * all_ns};
}

TEST(FloodSwitch, GoesOnWhereInsertingTakesMoreThanHalfAndOffBelowAQuarter) {
  FloodSwitch filter;
  EXPECT_FALSE(filter.is_on());
  for (const double share : {0.0, 0.1, 0.3, 0.49}) EXPECT_FALSE(filter.end_window(window(share))) << share;
  EXPECT_TRUE(filter.end_window(window(0.51)));
  for (const double share : {0.49, 0.9, 0.26, 1.0}) EXPECT_TRUE(filter.end_window(window(share))) << share;
  EXPECT_FALSE(filter.end_window(window(0.24)));
  EXPECT_FALSE(filter.end_window(window(0.49)));
  EXPECT_TRUE(filter.end_window(window(1)));
}

TEST(FloodSwitch, FlowsThatInsertingHasTimeForAreNoFlood) {
  FloodSwitch filter;
  EXPECT_FALSE(filter.end_window(window(1, 0.0099)));
  EXPECT_TRUE(filter.end_window(window(1, 0.0101)));
  EXPECT_TRUE(filter.end_window(window(1, 0.0051)));
  EXPECT_FALSE(filter.end_window(window(1, 0.0049)));
}

TEST(FloodSwitch, CountsWithWhatInsertingCosts) {
  FloodSwitch filter(1000);
  EXPECT_FALSE(filter.end_window({kFloodWindowNs, 999, 1e6}));
  EXPECT_TRUE(filter.end_window({kFloodWindowNs, 1001, 1e6}));
}

TEST(FloodSwitch, WindowsThatCannotBeChangeNothing) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kMuch = std::numeric_limits<double>::infinity();
  for (const bool on : {false, true}) {
    FloodSwitch filter;
    if (on) filter.end_window(window(1));
    const double few = on ? 0 : 1e6, little = on ? 1e9 : 0;  // of themselves, they would change it
    for (const FloodWindow& wrong : {FloodWindow{0, few, little}, FloodWindow{-1, few, little},
                                     FloodWindow{kNan, few, little}, FloodWindow{kFloodWindowNs, kNan, little},
                                     FloodWindow{kFloodWindowNs, few, kNan}, FloodWindow{kFloodWindowNs, kMuch, little},
                                     FloodWindow{kFloodWindowNs, -1, little}, FloodWindow{kFloodWindowNs, few, -1}})
      EXPECT_EQ(filter.end_window(wrong), on);
  }
}

TEST(FloodSwitch, AWindowWithoutPacketsEndsAFlood) {
  FloodSwitch filter;
  EXPECT_TRUE(filter.end_window(window(1)));
  EXPECT_FALSE(filter.end_window({kFloodWindowNs, 0, 0}));
}

TEST(RoomSwitch, GoesOnWhereNewFlowsEvictThoseOfTheOpenWindowAndOffWhereTheyHaveRoom) {
  const auto settles = [](RoomSwitch& filter, const TableLoad& load) {
    for (int i = 0; i < 200; ++i) filter.end_window(load);
    return filter.is_on();
  };
  RoomSwitch filter(1000);
  EXPECT_FALSE(settles(filter, {.share = 0.01, .new_flows = 100, .evicted = 50})) << "half of them evict older flows";
  EXPECT_TRUE(filter.end_window({.share = 0.01, .new_flows = 100, .evicted = 51}));
  EXPECT_TRUE(settles(filter, {.share = 0.01, .new_flows = 6})) << "600 in a window";
  EXPECT_FALSE(settles(filter, {.share = 0.01, .new_flows = 4})) << "400";
  EXPECT_FALSE(settles(filter, {.share = 0.01, .new_flows = 11, .live = 850})) << "there is room yet";
  EXPECT_FALSE(settles(filter, {.share = 0.01, .new_flows = 4, .live = 1000}));
  EXPECT_FALSE(filter.end_window({.share = 0.01, .new_flows = 16, .live = 1000})) << "a moment";
  EXPECT_TRUE(settles(filter, {.share = 0.01, .new_flows = 16, .live = 1000}));
  EXPECT_FALSE(settles(filter, {.share = 0.01}));
  EXPECT_FALSE(filter.end_window({.share = 0, .new_flows = 900, .evicted = 900})) << "no part of a window has passed";
}

}  // namespace
}  // namespace parshall
