// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include "tester/search/load_class.hpp"
#include "tester/search/search.hpp"

namespace parshall::tester {

/// Expects what holds for every goal of every search, ended or not.
inline void expect_sound(const SearchPlan& plan, const GoalResult& result) {
  const auto &lower = result.relevant_lower_bound, &upper = result.relevant_upper_bound;
  if (lower) {
    EXPECT_EQ(classify_load(lower->trials, result.goal), LoadClass::lower_bound);
    EXPECT_LE(*result.conditional_throughput_pps, lower->load_pps);
    EXPECT_GE(*result.conditional_throughput_pps, lower->load_pps * (1 - result.goal.loss_ratio) * (1 - 1e-12));
  }
  EXPECT_EQ(lower.has_value(), result.conditional_throughput_pps.has_value());
  if (upper) {
    EXPECT_EQ(classify_load(upper->trials, result.goal), LoadClass::upper_bound);
  }
  if (lower && upper) {
    EXPECT_LT(lower->load_pps, upper->load_pps);
  }
  switch (result.irregular) {
    case Irregular::no:
      ASSERT_TRUE(lower && upper);
      EXPECT_LE(1 - lower->load_pps / upper->load_pps, result.goal.width + 1e-8);
      break;
    case Irregular::no_lower_bound:
      ASSERT_TRUE(!lower && upper);
      EXPECT_EQ(upper->load_pps, plan.min_load_pps);
      break;
    case Irregular::no_upper_bound:
      ASSERT_TRUE(lower && !upper);
      EXPECT_EQ(lower->load_pps, plan.max_load_pps);
      break;
    case Irregular::run_again:
    case Irregular::strays:
      ASSERT_TRUE(lower && upper);
      break;
    case Irregular::hosts_loss:
      ASSERT_TRUE(upper);
      break;
    case Irregular::width_not_reached:
      break;
  }
}

/// Expects what holds for every search that has ended.
inline void expect_sound(const SearchPlan& plan, const SearchResult& result) {
  ASSERT_EQ(result.goals.size(), plan.goals.size());
  ASSERT_FALSE(result.trials.empty());
  EXPECT_NE(result.end, SearchEnd::not_yet);
  EXPECT_EQ(result.trials.front().load_pps, plan.max_load_pps);
  for (const TrialOutcome& trial : result.trials) {
    EXPECT_TRUE(plan.min_load_pps <= trial.load_pps && trial.load_pps <= plan.max_load_pps);
  }
  for (const GoalResult& goal : result.goals) {
    expect_sound(plan, goal);
    if (result.end == SearchEnd::goals_reached) {
      EXPECT_NE(goal.irregular, Irregular::width_not_reached);
    }
  }
}

}  // namespace parshall::tester
