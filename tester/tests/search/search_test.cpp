// SPDX-License-Identifier: Apache-2.0
#include "tester/search/search.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "devices.hpp"
#include "sound.hpp"
#include "tester/search/trial_log.hpp"

namespace parshall::tester {
namespace {

SearchPlan plan_of(std::vector<SearchGoal> goals, SearchBudget budget = {}) {
  return {.min_load_pps = 9001, .max_load_pps = 14'880'952, .goals = std::move(goals), .budget = budget};
}

class EveryMethod : public ::testing::TestWithParam<SearchMethod> {
 protected:
  std::unique_ptr<Search> make(const SearchPlan& plan) const { return *GetParam().make(plan); }
};

INSTANTIATE_TEST_SUITE_P(Search, EveryMethod, ::testing::ValuesIn(search_methods().begin(), search_methods().end()),
                         [](const auto& method) { return std::string(method.param.name); });

TEST(SearchPlan, ThatMakesNoSearchIsRefused) {
  const SearchPlan good{.min_load_pps = 1, .max_load_pps = 2, .goals = {*preset_goal("ndr")}};
  const auto refused = [&](auto change) {
    SearchPlan plan = good;
    change(plan);
    for (const SearchMethod& method : search_methods()) {
      if (method.make(plan).has_value()) return false;
    }
    return true;
  };
  EXPECT_FALSE(refused([](SearchPlan&) {}));
  EXPECT_TRUE(refused([](SearchPlan& p) { p.min_load_pps = 0; }));
  EXPECT_TRUE(refused([](SearchPlan& p) { p.max_load_pps = 1; }));
  EXPECT_TRUE(refused([](SearchPlan& p) { p.max_load_pps = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(refused([](SearchPlan& p) { p.goals.clear(); }));
  EXPECT_TRUE(refused([](SearchPlan& p) { p.budget.trials = 0; }));
  EXPECT_TRUE(refused([](SearchPlan& p) { p.budget.trial_s = 0; }));
}

TEST_P(EveryMethod, AsksForTheSameTrialUntilItsOutcomeIsThere) {
  const auto search = make(plan_of({*preset_goal("ndr")}));
  const TrialInput first = *search->next();
  EXPECT_EQ(*search->next(), first);
  EXPECT_EQ(first.load_pps, 14'880'952);
  EXPECT_TRUE(search->add(trial_of({.load_pps = first.load_pps / 2, .duration_s = first.duration_s}, 0)));
  EXPECT_TRUE(search->add(trial_of({.load_pps = first.load_pps, .duration_s = 2 * first.duration_s}, 0)));
  EXPECT_TRUE(search->result().trials.empty());
  EXPECT_FALSE(search->add(trial_of(first, 0.5)));
  EXPECT_TRUE(search->add(trial_of(first, 0.5)));
  EXPECT_EQ(search->result().trials.size(), 1);
}

TEST_P(EveryMethod, AsksForTheSameTrialsWhereOutcomesAreTheSame) {
  const Device device = noisy_knee(3e6, 0.2, 0.01);
  const SearchPlan plan = plan_of({*preset_goal("ndr")});
  const auto one = make(plan), other = make(plan);
  const SearchResult a = run(*one, device, 7), b = run(*other, device, 7);
  ASSERT_EQ(a.trials.size(), b.trials.size());
  for (std::size_t i = 0; i < a.trials.size(); ++i) EXPECT_EQ(a.trials[i].input(), b.trials[i].input());
}

TEST_P(EveryMethod, IsSoundAtAnyTimeOfIt) {
  const SearchPlan plan = plan_of({*preset_goal("pdr")});
  const auto search = make(plan);
  const Device device = noisy_knee(3e6, 0.2, 0.01);
  SplitMix64 random(3);
  EXPECT_EQ(search->result().goals[0].irregular, Irregular::width_not_reached);
  while (const auto trial = search->next()) {
    EXPECT_EQ(search->result().end, SearchEnd::not_yet);
    expect_sound(plan, search->result().goals[0]);
    ASSERT_FALSE(search->add(trial_of(*trial, device(*trial, random))));
  }
  expect_sound(plan, search->result());
  EXPECT_EQ(search->result().end, SearchEnd::goals_reached);
  EXPECT_FALSE(search->next());
}

TEST_P(EveryMethod, EndsWithItsBudgetOfTrialsAndSaysSo) {
  const SearchGoal ndr = *preset_goal("ndr");
  for (std::size_t trials = 1; trials < 200; ++trials) {
    const SearchPlan plan = plan_of({ndr}, {.trials = trials});
    const SearchResult result = run(*make(plan), hard_knee(3e6));
    expect_sound(plan, result);
    EXPECT_LE(result.trials.size(), trials);
    if (result.end == SearchEnd::goals_reached) return;
    EXPECT_EQ(result.end, SearchEnd::trials_used_up);
    EXPECT_EQ(result.trials.size(), trials);
    EXPECT_EQ(result.goals[0].irregular, Irregular::width_not_reached);
  }
  FAIL() << "not reached with 200 trials";
}

TEST_P(EveryMethod, EndsWithItsBudgetOfTimeAndSaysSo) {
  const SearchGoal rfc2544 = *preset_goal("rfc2544");
  for (double trial_s = 1; trial_s < 2000; trial_s += 13.5) {
    const SearchPlan plan = plan_of({rfc2544}, {.trial_s = trial_s});
    const auto search = make(plan);
    const SearchResult result = run(*search, hard_knee(3e6));
    EXPECT_LE(result.trial_s, trial_s);
    double sum_s = 0;
    for (const TrialOutcome& trial : result.trials) sum_s += trial.duration_s;
    EXPECT_NEAR(result.trial_s, sum_s, 1e-9);
    if (result.end == SearchEnd::goals_reached) return;
    EXPECT_EQ(result.end, SearchEnd::time_used_up);
    EXPECT_NE(result.goals[0].irregular, Irregular::no);
  }
  FAIL() << "not reached in 2000 s";
}

TEST_P(EveryMethod, UsesUpABudgetToTheLastSecond) {
  const SearchPlan plan = plan_of({*preset_goal("ndr")}, {.trial_s = 5});
  EXPECT_EQ(run(*make(plan), hard_knee(3e6)).trials.size(), 5);
}

TEST_P(EveryMethod, SaysThatADeviceWhichNeverLosesHasNoUpperBound) {
  for (const SearchGoal& goal : preset_goals()) {
    const SearchPlan plan = plan_of({goal});
    const SearchResult result = run(*make(plan), hard_knee(1e12));
    expect_sound(plan, result);
    EXPECT_EQ(result.goals[0].irregular, Irregular::no_upper_bound);
    EXPECT_EQ(*result.goals[0].conditional_throughput_pps, 14'880'952);
  }
}

TEST_P(EveryMethod, SaysThatADeviceWhichAlwaysLosesHasNoLowerBound) {
  for (const SearchGoal& goal : preset_goals()) {
    for (const double loss_ratio : {0.01, 1.0}) {
      const SearchPlan plan = plan_of({goal});
      const SearchResult result = run(*make(plan), [&](const TrialInput&, SplitMix64&) { return loss_ratio; });
      expect_sound(plan, result);
      EXPECT_EQ(result.goals[0].irregular, Irregular::no_lower_bound);
    }
  }
}

TEST_P(EveryMethod, TakesASenderThatIsTooSlowForADeviceThatIs) {
  const SearchPlan plan = plan_of({*preset_goal("ndr")});
  const auto search = make(plan);
  while (const auto trial = search->next()) {
    TrialOutcome outcome = trial_of(*trial, 0);
    outcome.sent = outcome.received = std::min<std::uint64_t>(outcome.offered, std::uint64_t(5e6 * trial->duration_s));
    ASSERT_FALSE(search->add(outcome));
  }
  const GoalResult result = search->result().goals[0];
  EXPECT_EQ(result.irregular, Irregular::no);
  EXPECT_TRUE(result.relevant_lower_bound->load_pps <= 5e6 && 5e6 < result.relevant_upper_bound->load_pps);
}

TEST(TrialLog, TakesALowerLoadThatLosesForTrueAndAHigherOneThatDoesNotForChance) {
  const SearchGoal rfc2544 = *preset_goal("rfc2544");
  TrialLog log;
  const auto add = [&](double load_pps, double loss_ratio) {
    log.add(trial_of({.load_pps = load_pps, .duration_s = 60}, loss_ratio));
  };
  add(1000, 0);
  EXPECT_EQ(log.relevant_bounds(rfc2544).lower_pps, 1000);
  EXPECT_FALSE(log.relevant_bounds(rfc2544).upper_pps);
  add(1200, 0.1);
  add(900, 0.1);
  add(800, 0);
  add(700, 0);
  EXPECT_EQ(log.relevant_bounds(rfc2544).lower_pps, 800);
  EXPECT_EQ(log.relevant_bounds(rfc2544).upper_pps, 900);
}

}  // namespace
}  // namespace parshall::tester
