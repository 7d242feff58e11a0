// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "lab/states/experiment.hpp"

namespace parshall::lab {
namespace {

std::vector<StatesRow> measured(const StatesSweep& sweep) {
  std::vector<StatesRow> all;
  const auto parts = measure_states(
      sweep, [&](std::span<const StatesRow> rows) { all.insert(all.end(), rows.begin(), rows.end()); },
      [] { return false; });
  EXPECT_TRUE(parts);
  return all;
}

TEST(MonitoringStates, OnlyChangingStatesReduceFlowsAndThenInHalfOfTheWindows) {
  const auto rows = measured({.states = {2, 64}, .flows = {50, 500}, .rate_pps = 4e5, .rounds = 1});
  ASSERT_EQ(rows.size(), 2 * 2 * states_ways().size());
  for (const StatesRow& row : rows) {
    SCOPED_TRACE(row.way->name);
    EXPECT_EQ(row.window_packets, 4000u);
    EXPECT_GT(row.cost.median_ns, 0);
    if (row.way->way == StatesWay::changing) {
      EXPECT_NEAR(row.packets_reduced_share, 0.5, 0.1) << row.states;
    } else {
      EXPECT_EQ(row.packets_reduced_share, 0);
    }
  }
}

TEST(MonitoringStates, EstimatesAreOfAllTasks) {
  const auto of = [](std::size_t tasks) {
    const auto rows = measured({.states = {2}, .flows = {100}, .rate_pps = 4e5, .tasks = tasks, .rounds = 3});
    return rows.back().cost.median_ns;
  };
  EXPECT_GT(of(100), 5 * of(4));
}

TEST(MonitoringStates, WhoStopsHasThePartsThatWereDone) {
  int parts = 0;
  const auto done = measure_states(
      {.states = {2, 3}, .flows = {50}, .rate_pps = 1e5, .rounds = 1}, [&](std::span<const StatesRow>) { ++parts; },
      [&] { return parts == 1; });
  ASSERT_TRUE(done);
  EXPECT_EQ(*done, 1u);
}

}  // namespace
}  // namespace parshall::lab
