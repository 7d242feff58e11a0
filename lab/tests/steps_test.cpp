// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lab/adaptive/steps_experiment.hpp"

namespace parshall::lab {
namespace {

StepsSweep every_policy(double error) {
  StepsSweep sweep{.policies = {}, .first_steps = {0.0025, 0.1}, .cases = 300, .error = error};
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

TEST(Steps, InAllCasesThereIsSomethingToDoAndMostlyItIsDone) {
  const auto rows = measured(every_policy(0.02));
  ASSERT_EQ(rows.size(), 8u);
  for (const StepsRow& row : rows) {
    EXPECT_EQ(row.cases, 300u);
    EXPECT_GT(row.reached_share.mean, 0.9);
    EXPECT_LE(static_cast<double>(row.reached_by_all), row.reached_share.mean * 300 + 1e-9);
    EXPECT_GE(row.windows.mean, 1) << "adaptation alone is not enough";
    EXPECT_LT(row.windows.mean, 200);
    EXPECT_TRUE(row.windows.half_width);
  }
}

TEST(Steps, AFirstStepThatIsTooSmallIsSoonerDoubledThanAddedToByLess) {
  StepsSweep sweep = every_policy(0);
  sweep.added_step = 0.0025;
  const auto slow = measured(sweep);
  EXPECT_LT(row_of(slow, "MM", 0.0025).windows.mean, row_of(slow, "AM", 0.0025).windows.mean);
  sweep.added_step = 0.05;
  const auto fast = measured(sweep);
  EXPECT_GT(row_of(fast, "MM", 0.0025).windows.mean, row_of(fast, "AM", 0.0025).windows.mean);
  EXPECT_EQ(row_of(fast, "MM", 0.0025).reached_share.mean, row_of(slow, "MM", 0.0025).reached_share.mean)
      << "it adds none";
}

TEST(Steps, TheSameSeedIsTheSameAgainAndAnotherRoundIsNot) {
  StepsSweep sweep = every_policy(0.02);
  const auto once = measured(sweep), again = measured(sweep);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].windows.mean, again[i].windows.mean);
  sweep.rounds = 2;
  EXPECT_NE(measured(sweep).front().windows.mean, once.front().windows.mean);
}

TEST(Steps, WhoStopsHasTheRoundsThatWereDone) {
  StepsSweep sweep = every_policy(0);
  sweep.rounds = 3;
  int rounds = 0;
  const auto done = measure_steps(
      sweep, [&](auto) { ++rounds; }, [&] { return rounds == 2; });
  ASSERT_TRUE(done);
  EXPECT_EQ(*done, 2u);
}

}  // namespace
}  // namespace parshall::lab
