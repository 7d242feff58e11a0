// SPDX-License-Identifier: Apache-2.0
#include "tester/search/mlr_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "devices.hpp"
#include "sound.hpp"

namespace parshall::tester {
namespace {

constexpr double kMinLoad = 9001, kMaxLoad = 14'880'952;

std::vector<SearchGoal> goals_of(std::string_view names) {
  std::vector<SearchGoal> goals;
  for (const SearchGoal& goal : preset_goals()) {
    if (names.find(goal.name) != names.npos) goals.push_back(goal);
  }
  return goals;
}

SearchResult run_mlr(std::vector<SearchGoal> goals, const Device& device, std::uint64_t seed = 1) {
  const SearchPlan plan{.min_load_pps = kMinLoad, .max_load_pps = kMaxLoad, .goals = std::move(goals)};
  SearchResult result = run(**MlrSearch::make(plan), device, seed);
  expect_sound(plan, result);
  return result;
}

void expect_between_bounds(const GoalResult& result, double rate_pps) {
  ASSERT_EQ(result.irregular, Irregular::no) << text_of(result.irregular) << " at " << rate_pps;
  EXPECT_LE(result.relevant_lower_bound->load_pps, rate_pps);
  EXPECT_LT(rate_pps, result.relevant_upper_bound->load_pps);
}

/// Evenly over the logarithm of what loads can be, and the same each time.
double rate_of(std::uint64_t seed) { return 50'000 * std::pow(14e6 / 50'000, SplitMix64(seed * 7919 + 1).uniform()); }

TEST(MlrSearch, FindsAHardKneeForEveryGoalWithinItsWidth) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const double rate = rate_of(seed);
    for (const GoalResult& goal : run_mlr(goals_of("rfc2544 tst009 ndr pdr"), hard_knee(rate)).goals)
      expect_between_bounds(goal, rate / (1 - goal.goal.loss_ratio));
  }
}

TEST(MlrSearch, FindsWhereASmoothCurveCrossesTheLossRatio) {
  for (const double steepness : {5.0, 20.0, 400.0}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const double rate = rate_of(seed);
      std::vector<SearchGoal> goals;
      for (const double loss_ratio : {0.005, 0.01, 0.1})
        goals.push_back({.name = std::to_string(loss_ratio), .loss_ratio = loss_ratio, .final_trial_s = 10});
      for (SearchGoal& goal : goals) goal.width = 0.01;
      for (const GoalResult& goal : run_mlr(goals, smooth(rate, steepness)).goals) {
        const double loss_ratio = goal.goal.loss_ratio;
        const double crossing = rate * std::pow(loss_ratio / (1 - loss_ratio), 1 / steepness);
        if (crossing > 1.1 * kMinLoad && crossing < 0.9 * kMaxLoad) expect_between_bounds(goal, crossing);
      }
    }
  }
}

/// Less than half of the seconds have a burst: an exceed ratio of one half lets them be.
TEST(MlrSearch, FindsTheKneeUnderRareBurstsOfLoss) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const double rate = rate_of(seed);
    for (const GoalResult& goal : run_mlr(goals_of("ndr pdr"), noisy_knee(rate, 0.02, 0.1), seed).goals)
      expect_between_bounds(goal, rate / (1 - goal.goal.loss_ratio));
  }
}

TEST(MlrSearch, NeverFindsMoreThanTheKneeWhereABurstIsNotAllowed) {
  std::size_t low = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const GoalResult goal = run_mlr(goals_of("rfc2544"), noisy_knee(rate_of(seed), 0.01, 0.1), seed).goals[0];
    if (goal.relevant_lower_bound) {
      EXPECT_LE(goal.relevant_lower_bound->load_pps, rate_of(seed));
      low += goal.relevant_lower_bound->load_pps < rate_of(seed) * 0.99;
    }
  }
  EXPECT_GT(low, 5);
}

/// The least load that loses counts, however many higher ones another goal finds that do not.
TEST(MlrSearch, IsConservativeWhereAHigherLoadLosesLess) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const double rate = rate_of(seed);
    const Device inverted = [=](const TrialInput& trial, SplitMix64&) {
      if (trial.load_pps > rate) return 1 - 0.93 * rate / trial.load_pps;  // overloaded, it forwards less
      return trial.load_pps >= 0.85 * rate && trial.load_pps <= 0.96 * rate ? 0.02 : 0;
    };
    SearchGoal tolerant = *preset_goal("pdr");
    tolerant.loss_ratio = 0.05;
    const SearchResult result = run_mlr({*preset_goal("ndr"), tolerant}, inverted);
    if (rate > kMaxLoad * 0.9) continue;
    expect_between_bounds(result.goals[1], rate);
    expect_between_bounds(result.goals[0], std::nextafter(0.85 * rate, 0));
  }
}

TEST(MlrSearch, FindsWhatADeviceSustainsNotWhatItsBufferTakes) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const double rate = rate_of(seed) / 2;
    const SearchResult result = run_mlr(goals_of("rfc2544 tst009"), with_buffer(rate, 0.3 * rate, 1e12));
    for (const GoalResult& goal : result.goals) expect_between_bounds(goal, rate * (1 + 0.3 / 60));
  }
}

TEST(MlrSearch, TriesTheGreatestLoadFirstThenWhatWasForwardedOfIt) {
  const SearchResult result = run_mlr(goals_of("ndr"), hard_knee(3e6));
  EXPECT_EQ(result.trials[0].load_pps, kMaxLoad);
  EXPECT_LE(result.trials[1].load_pps, 3e6);
  EXPECT_GT(result.trials[1].load_pps, 3e6 * 0.995);
  for (const TrialOutcome& trial : result.trials) EXPECT_EQ(trial.duration_s, 1);
}

/// Below a knee at which nothing else is lost, what was forwarded is 95 % of what loses 5 %.
TEST(MlrSearch, AllowsForTheLossOfTheGoalInWhatWasForwarded) {
  const SearchResult result = run_mlr({{.name = "tolerant", .loss_ratio = 0.05}}, hard_knee(3e6));
  EXPECT_LE(result.trials[1].load_pps, 3e6 / 0.95);
  EXPECT_GT(result.trials[1].load_pps, 3e6 / 0.95 * 0.995);
}

TEST(MlrSearch, GoesFromShortTrialsToLongOnes) {
  const SearchResult result = run_mlr(goals_of("rfc2544"), hard_knee(3e6));
  EXPECT_EQ(result.trials.front().duration_s, 1);
  EXPECT_EQ(result.trials.back().duration_s, 60);
  for (std::size_t i = 1; i < result.trials.size(); ++i)
    EXPECT_GE(result.trials[i].duration_s, result.trials[i - 1].duration_s);
  EXPECT_LT(result.trial_s, 200);  // halving takes 19 trials of 60 s
}

TEST(MlrSearch, OfSeveralGoalsTakesLessThanASearchForEach) {
  double together_s = 0, apart_s = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Device device = smooth(rate_of(seed), 400);
    const double both_s = run_mlr(goals_of("ndr pdr"), device).trial_s;
    const double each_s = run_mlr(goals_of("ndr"), device).trial_s + run_mlr(goals_of("pdr"), device).trial_s;
    EXPECT_LE(both_s, each_s);
    together_s += both_s;
    apart_s += each_s;
  }
  EXPECT_LT(together_s, 0.9 * apart_s);
}

/// Whatever the goals and devices: sound results, and an end.
TEST(MlrSearch, IsSoundForRandomGoalsAndDevices) {
  SplitMix64 random(20);
  const auto between = [&](double low, double high) { return low * std::pow(high / low, random.uniform()); };
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::vector<SearchGoal> goals;
    for (auto left = 1 + random.below(4); left > 0; --left) {
      SearchGoal goal{.name = std::to_string(left), .loss_ratio = random.below(2) ? between(1e-4, 0.2) : 0};
      goal.exceed_ratio = static_cast<double>(random.below(4)) / 4;
      goal.initial_trial_s = between(0.1, 2);
      goal.final_trial_s = goal.initial_trial_s * between(1, 20);
      goal.duration_sum_s = goal.final_trial_s * between(1, 20);
      goal.width = between(0.002, 0.2);
      goals.push_back(goal);
    }
    const double rate = rate_of(seed);
    const Device devices[] = {noisy_knee(rate, between(0.001, 0.5), between(0.001, 0.5)),
                              with_inversion(rate * 0.8, rate * 0.97, rate),
                              with_buffer(rate, rate * between(0.1, 10), 1e12), smooth(rate, between(3, 1000)),
                              [](const TrialInput&, SplitMix64& any) { return any.uniform() < 0.5 ? 0 : 0.01; }};
    run_mlr(goals, devices[random.below(std::size(devices))], seed);
  }
}

struct ReferenceCost {
  std::string_view goals, device;
  double trials, trial_s;
};
constexpr ReferenceCost kReferenceCosts[] = {
#include "reference/searches.inc"
};

Device device_of(std::string_view name, double rate) {
  if (name == "hard knee") return hard_knee(rate);
  if (name == "gentle") return smooth(rate, 5);
  if (name == "smooth") return smooth(rate, 20);
  if (name == "steep") return smooth(rate, 400);
  if (name == "rare bursts") return noisy_knee(rate, 0.01, 0.1);
  if (name == "bursts") return noisy_knee(rate, 0.1, 0.1);
  if (name == "buffer") return with_buffer(rate, rate * 0.3, 1e12);
  return hard_knee(name == "never loses" ? 1e12 : 1);
}

/// Sums over all searches scatter by some per cent if the device loses at random.
TEST(MlrSearch, CostsNoMoreThanTheReference) {
  for (const auto& [goals, name, reference_trials, reference_s] : kReferenceCosts) {
    double trials = 0, trial_s = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const SearchResult result = run_mlr(goals_of(goals), device_of(name, rate_of(seed)), seed);
      trials += static_cast<double>(result.trials.size());
      trial_s += result.trial_s;
    }
    const double tolerance = name.ends_with("bursts") ? 1.1 : 1.01;
    EXPECT_LE(trials, reference_trials * tolerance) << goals << ", " << name;
    EXPECT_LE(trial_s, reference_s * tolerance) << goals << ", " << name;
  }
}

}  // namespace
}  // namespace parshall::tester
