// SPDX-License-Identifier: Apache-2.0
#include "control/events_by_weight.hpp"

#include <gtest/gtest.h>

namespace parshall {
namespace {

constexpr auto kByFlows = static_cast<std::size_t>(EventMeasure::flows),
               kByEach = static_cast<std::size_t>(EventMeasure::each);

TEST(EventsByWeight, AddsThoseOfFlowsThatWereNotFollowed) {
  EventsByWeight events;
  EventsByWeight::Window window{.flows = {1000, 100}, .packets = {2000, 1200}};
  window.seen_flows = {500, 100};
  window.seen_packets = {1000, 1200};
  window.seen_events = {{{50, 20}, {60, 80}}};
  events.add_window(window, /*by_packets=*/false);
  EXPECT_NEAR(events.events()[kByFlows][0], 100, 1e-9);
  EXPECT_NEAR(events.events()[kByFlows][1], 20, 1e-9);
  events.add_window(window, /*by_packets=*/true);
  EXPECT_NEAR(events.events()[kByEach][0], 120, 2) << "by packets";
  EXPECT_NEAR(events.events()[kByEach][1], 80, 2);
  EXPECT_EQ(events.flows()[0], 1000);
}

TEST(EventsByWeight, AWeightWhoseFewFollowedFlowsShowNoneIsNotForgotten) {
  EventsByWeight events;
  EventsByWeight::Window window{.flows = {1000, 0, 40}, .packets = {2000, 0, 1000}};
  window.seen_flows = {1000, 0, 1};
  window.seen_packets = {2000, 0, 25};
  window.seen_events = {{{100, 0, 0}, {100, 0, 0}}};
  for (int i = 0; i < 100; ++i) events.add_window(window, /*by_packets=*/true);
  EXPECT_GT(events.events()[kByEach][2], 5) << "light flows show one in 20 packets, so 1,000 packets may show 50";
  EXPECT_GT(events.events()[kByFlows][2], 3);
  EXPECT_EQ(events.events()[kByEach][1], 0) << "there are no flows of this weight";
}

TEST(EventsByWeight, FollowsTrafficThatChanges) {
  EventsByWeight events;
  EventsByWeight::Window window{.flows = {1000}, .packets = {2000}};
  window.seen_flows = {1000};
  window.seen_packets = {2000};
  window.seen_events = {{{100}, {100}}};
  for (int i = 0; i < 30; ++i) events.add_window(window, /*by_packets=*/false);
  window.seen_events = {{{200}, {200}}};
  for (int i = 0; i < 30; ++i) events.add_window(window, /*by_packets=*/false);
  EXPECT_NEAR(events.events()[kByFlows][0], 200, 10);
}

}  // namespace
}  // namespace parshall
