// SPDX-License-Identifier: Apache-2.0
#include "tester/search/load_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace parshall::tester {
namespace {

std::vector<SearchGoal> goals_of_widths(std::initializer_list<double> widths) {
  std::vector<SearchGoal> goals;
  for (const double width : widths) goals.push_back({.name = "goal", .width = width});
  return goals;
}

TEST(LoadGrid, HasNoWidthThatIsWiderThanItWasOrMuchNarrower) {
  for (const auto& widths : {std::vector{0.005}, {0.005, 0.01}, {0.003, 0.005, 0.0071}, {0.5}, {1e-6, 0.9}}) {
    std::vector<SearchGoal> goals;
    for (const double width : widths) goals.push_back({.name = "goal", .width = width});
    const LoadGrid grid(9001, 1e9, goals);
    for (const double width : widths) {
      const GridLoad upper = grid.last() / 2, lower = upper - grid.steps(width);
      const double got = 1 - grid.load_pps(lower) / grid.load_pps(upper);
      EXPECT_LE(got, width * (1 + 1e-7));
      EXPECT_GE(-std::log1p(-got), -std::log1p(-width) * 0.989);
    }
  }
}

TEST(LoadGrid, GoesFromTheLeastLoadToTheGreatestExactly) {
  const LoadGrid grid(9001, 14'880'952.381, goals_of_widths({0.005}));
  EXPECT_EQ(grid.load_pps(0), 9001);
  EXPECT_EQ(grid.load_pps(grid.last()), 14'880'952.381);
  EXPECT_EQ(grid.at_most(1), 0);
  EXPECT_EQ(grid.at_most(1e12), grid.last());
}

TEST(LoadGrid, FindsEachOfItsLoadsAgainAndRoundsOthersDown) {
  for (const double width : {0.005, 0.3, 1e-6}) {
    const LoadGrid grid(0.001, 1e12, goals_of_widths({width}));
    for (GridLoad load = 0; load <= grid.last(); load += 1 + grid.last() / 5000) {
      ASSERT_EQ(grid.at_most(grid.load_pps(load)), load);
      if (load == grid.last()) break;
      ASSERT_EQ(grid.at_most(std::sqrt(grid.load_pps(load) * grid.load_pps(load + 1))), load);
    }
  }
}

}  // namespace
}  // namespace parshall::tester
