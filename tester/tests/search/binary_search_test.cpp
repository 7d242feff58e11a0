// SPDX-License-Identifier: Apache-2.0
#include "tester/search/binary_search.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "devices.hpp"
#include "sound.hpp"

namespace parshall::tester {
namespace {

SearchPlan binary_plan(SearchGoal goal) { return {.min_load_pps = 1000, .max_load_pps = 1'000'000, .goals = {goal}}; }

SearchResult run_binary(const SearchGoal& goal, const Device& device, std::uint64_t seed = 1) {
  const SearchPlan plan = binary_plan(goal);
  const auto search = *BinarySearch::make(plan);
  SearchResult result = run(*search, device, seed);
  expect_sound(plan, result);
  return result;
}

TEST(BinarySearch, HalvesBetweenTheLeastAndTheGreatestLoad) {
  const SearchResult result = run_binary(*preset_goal("rfc2544"), hard_knee(600'000));
  const double expected[] = {1e6, 1e3, 500'500, 750'250, 625'375, 562'937.5, 594'156.25, 609'765.625, 601'960.9375};
  ASSERT_EQ(result.trials.size(), std::size(expected) + 2);
  for (std::size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(result.trials[i].load_pps, expected[i]);
  for (const TrialOutcome& trial : result.trials) EXPECT_EQ(trial.duration_s, 60);
}

TEST(BinarySearch, FindsAHardKneeWithinTheWidth) {
  for (double rate = 1100; rate < 990'000; rate *= 1.37) {
    const GoalResult result = run_binary(*preset_goal("rfc2544"), hard_knee(rate)).goals[0];
    ASSERT_EQ(result.irregular, Irregular::no) << rate;
    EXPECT_TRUE(result.relevant_lower_bound->load_pps <= rate && rate < result.relevant_upper_bound->load_pps);
    EXPECT_EQ(result.conditional_throughput_pps, result.relevant_lower_bound->load_pps);  // RFC 9971, section 4.10.2
  }
}

/// TST009, section 12.3.3, with max(r) = 2.
TEST(BinarySearch, VerifiesALossByASecondTrialWhereTheGoalAsksForIt) {
  int trials = 0;
  const Device loses_first = [&](const TrialInput& trial, SplitMix64&) {
    return trial.load_pps > 600'000 || trials++ % 2 == 0 ? 0.1 : 0;
  };
  const SearchResult result = run_binary(*preset_goal("tst009"), loses_first);
  const GoalResult& goal = result.goals[0];
  ASSERT_EQ(goal.irregular, Irregular::no);
  EXPECT_TRUE(goal.relevant_lower_bound->load_pps <= 600'000 && 600'000 < goal.relevant_upper_bound->load_pps);
  EXPECT_EQ(goal.relevant_lower_bound->trials.size(), 2);
  EXPECT_EQ(goal.relevant_upper_bound->trials.size(), 2);
  EXPECT_EQ(result.trials.size(), 2 * 11);
}

TEST(BinarySearch, EndsWhereTheGreatestLoadMeetsTheGoalOrTheLeastDoesNot) {
  EXPECT_EQ(run_binary(*preset_goal("rfc2544"), hard_knee(1e12)).trials.size(), 1);
  EXPECT_EQ(run_binary(*preset_goal("rfc2544"), hard_knee(1)).trials.size(), 2);
}

TEST(BinarySearch, HasOneGoal) {
  SearchPlan plan = binary_plan(*preset_goal("ndr"));
  plan.goals.push_back(*preset_goal("pdr"));
  EXPECT_EQ(BinarySearch::make(plan).error().message, "a binary search has one goal");
}

}  // namespace
}  // namespace parshall::tester
