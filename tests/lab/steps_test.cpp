// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lab/steps_experiment.hpp"

namespace parshall::lab {
namespace {

StepsSweep every_policy(double error) {
  StepsSweep sweep{.policies = {}, .first_steps = {0.0025, 0.1}, .cases = 1000, .error = error};
  for (const StepPolicy& policy : step_policies()) sweep.policies.push_back(&policy);
  return sweep;
}

std::vector<StepsRow> measured(const StepsSweep& sweep) {
  std::vector<StepsRow> all;
  const auto rounds = measure_steps(
      sweep, [&](std::span<const StepsRow> rows) { all.assign(rows.begin(), rows.end()); }, [] { return false; });
  EXPECT_TRUE(rounds);
  return all;
}

const StepsRow& row_of(const std::vector<StepsRow>& rows, std::string_view policy, double first_step) {
  return *std::ranges::find_if(
      rows, [&](const StepsRow& row) { return row.policy->name == policy && row.first_step == first_step; });
}

TEST(Steps, AllPoliciesHaveTheSameCasesInWhichThereIsSomethingToDo) {
  const auto rows = measured(every_policy(0.02));
  ASSERT_EQ(rows.size(), 8u);
  for (const StepsRow& row : rows) {
    EXPECT_EQ(row.cases, rows.front().cases);
    EXPECT_GT(row.reached_share, 0.8);
    EXPECT_GT(row.windows.mean, 1);
    EXPECT_LT(row.windows.mean, 200);
    EXPECT_TRUE(row.windows.half_width);
  }
  EXPECT_GT(rows.front().cases, 50u);
  EXPECT_LT(rows.front().cases, 500u) << "of most there is enough from the beginning, or never";
}

TEST(Steps, FromALeastStepOnItIsSoonerDoubledThanAddedTo) {
  const auto rows = measured(every_policy(0));
  EXPECT_LT(row_of(rows, "MM", 0.0025).windows.mean, row_of(rows, "AM", 0.0025).windows.mean);
  EXPECT_GT(row_of(rows, "AM", 0.0025).windows.mean, row_of(rows, "AM", 0.1).windows.mean);
}

TEST(Steps, TheSameSeedIsTheSameAgainAndAnotherRoundIsNot) {
  StepsSweep sweep = every_policy(0.02);
  sweep.cases = 200;
  const auto once = measured(sweep), again = measured(sweep);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].windows.mean, again[i].windows.mean);
  sweep.rounds = 2;
  EXPECT_NE(measured(sweep).front().windows.mean, once.front().windows.mean);
}

TEST(Steps, NoCaseWithAnythingToDoIsAnErrorAndNotARowOfNothing) {
  StepsSweep sweep = every_policy(0);
  sweep.cases = 1;
  const auto rounds = measure_steps(
      sweep, [](auto) { ADD_FAILURE(); }, [] { return false; });
  ASSERT_FALSE(rounds);
  EXPECT_NE(rounds.error().message.find("--cases"), std::string::npos);
}

}  // namespace
}  // namespace parshall::lab
