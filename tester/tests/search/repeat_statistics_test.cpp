// SPDX-License-Identifier: Apache-2.0
#include "tester/search/repeat_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace parshall::tester {
namespace {

GoalResult regular(double lower_pps, double upper_pps, double throughput_pps) {
  return {.goal = {.name = "pdr"},
          .relevant_lower_bound = RelevantBound{.load_pps = lower_pps},
          .relevant_upper_bound = RelevantBound{.load_pps = upper_pps},
          .conditional_throughput_pps = throughput_pps,
          .irregular = Irregular::no};
}

TEST(Spread, IsMedianMeanIntervalAndVariation) {
  const std::vector<double> values{9, 1, 5, 2, 3};
  const Spread spread = *spread_of(values);
  EXPECT_DOUBLE_EQ(spread.median, 3);
  EXPECT_DOUBLE_EQ(spread.mean, 4);
  EXPECT_NEAR(*spread.variation, std::sqrt(10.0) / 4, 1e-12);
  EXPECT_NEAR(*spread.half_width, 2.7764 * std::sqrt(10.0 / 5), 1e-3);
  EXPECT_DOUBLE_EQ(spread_of(std::vector<double>{4, 1, 2, 100})->median, 3);
}

TEST(Spread, OfOneValueHasNoIntervalAndOfNoneThereIsNone) {
  const Spread one = *spread_of(std::vector<double>{7});
  EXPECT_TRUE(one.median == 7 && one.mean == 7);
  EXPECT_FALSE(one.half_width || one.variation);
  EXPECT_FALSE(spread_of({}));
}

/// Ten searches that scatter by 1 % tell the mean to 0.72 %.
TEST(Spread, OfTenValuesThatVaryByOnePercentIsKnownToThreeQuartersOfOne) {
  std::vector<double> values;
  for (int i = 0; i < 5; ++i) values.insert(values.end(), {100 - std::sqrt(0.9), 100 + std::sqrt(0.9)});
  EXPECT_NEAR(*spread_of(values)->variation, 0.01, 1e-12);
  EXPECT_NEAR(*spread_of(values)->half_width, 0.7153, 1e-3);
}

TEST(RepeatStatistics, AreOfRegularResultsAndCountTheOthers) {
  GoalResult irregular = regular(1e9, 2e9, 1e9);
  irregular.irregular = Irregular::no_upper_bound;
  GoalResult ndr = regular(50, 60, 50);
  ndr.goal.name = "ndr";
  const std::vector<SearchResult> searches{
      {.goals = {ndr, regular(100, 110, 99)}}, {.goals = {ndr, irregular}}, {.goals = {ndr, regular(102, 114, 101)}}};
  const auto all = repeat_statistics(searches);
  ASSERT_EQ(all.size(), 2);
  EXPECT_TRUE(all[0].goal == "ndr" && all[0].regular == 3 && all[0].irregular == 0);
  EXPECT_EQ(*all[0].conditional_throughput_pps->variation, 0);
  const RepeatStatistics& pdr = all[1];
  EXPECT_TRUE(pdr.goal == "pdr" && pdr.regular == 2 && pdr.irregular == 1);
  EXPECT_EQ(pdr.conditional_throughput_pps->mean, 100);
  EXPECT_EQ(pdr.relevant_lower_bound_pps->mean, 101);
  EXPECT_EQ(pdr.relevant_upper_bound_pps->mean, 112);
}

TEST(RepeatStatistics, HaveNoIntervalThatIsNarrowerThanTheBoundsAreApart) {
  const std::vector<SearchResult> same(5, {.goals = {regular(141.42, 176.78, 141.42)}});
  for (const auto& spread :
       {repeat_statistics(same)[0].conditional_throughput_pps, repeat_statistics(same)[0].relevant_lower_bound_pps,
        repeat_statistics(same)[0].relevant_upper_bound_pps}) {
    EXPECT_NEAR(*spread->half_width, 176.78 - 141.42, 1e-9);
    EXPECT_EQ(*spread->variation, 0);
  }
  const std::vector<SearchResult> wide{{.goals = {regular(100, 110, 99)}}, {.goals = {regular(200, 230, 199)}}};
  EXPECT_NEAR(*repeat_statistics(wide)[0].relevant_lower_bound_pps->half_width, 12.706 * 50, 0.1);
  const std::vector<SearchResult> one(1, {.goals = {regular(141.42, 176.78, 141.42)}});
  EXPECT_FALSE(repeat_statistics(one)[0].relevant_lower_bound_pps->half_width);
}

TEST(RepeatStatistics, OfNoRegularResultHaveNoValues) {
  GoalResult irregular = regular(1, 2, 1);
  irregular.irregular = Irregular::width_not_reached;
  const std::vector<SearchResult> searches{{.goals = {irregular}}};
  const auto all = repeat_statistics(searches);
  EXPECT_EQ(all[0].irregular, 1);
  EXPECT_FALSE(all[0].conditional_throughput_pps || all[0].relevant_lower_bound_pps);
  EXPECT_TRUE(repeat_statistics({}).empty());
}

}  // namespace
}  // namespace parshall::tester
