// SPDX-License-Identifier: Apache-2.0
#include "tester/search/search_run.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "devices.hpp"

namespace parshall::tester {
namespace {

/// A device in the place of a real one, which may break before some trial.
class FakeTrials final : public TrialRunner {
 public:
  explicit FakeTrials(std::size_t works_for = ~std::size_t{0}) : works_for_(works_for) {}

  Result<double> ceiling_pps() override { return 1e6; }
  Result<TrialOutcome> measure(const TrialInput& input) override {
    if (measured == works_for_) return Error{"the device broke"};
    ++measured;
    return trial_of(input, hard_knee(3e5)(input, random_));
  }

  std::size_t measured = 0;

 private:
  std::size_t works_for_;
  SplitMix64 random_{1};
};

std::unique_ptr<Search> some_search() {
  return *search_methods().front().make({.min_load_pps = 1000, .max_load_pps = 1e6, .goals = {*preset_goal("pdr")}});
}

TEST(SearchRun, RunsAllTrialsAndTellsOfEach) {
  const auto search = some_search();
  FakeTrials measurer;
  std::vector<TrialOutcome> told;
  const SearchRun run = run_search(
      *search, measurer, [&](const TrialOutcome& outcome) { told.push_back(outcome); }, [] { return false; });
  EXPECT_FALSE(run.failure);
  EXPECT_EQ(run.result.end, SearchEnd::goals_reached);
  EXPECT_EQ(run.result.goals[0].irregular, Irregular::no);
  ASSERT_EQ(told.size(), run.result.trials.size());
  EXPECT_EQ(told.back().input(), run.result.trials.back().input());
  EXPECT_GT(run.result.took_s, 0);
}

TEST(SearchRun, EndsWhereThereIsNoTimeForTheNextTrialWithTheBoundsItHas) {
  const auto search = some_search();
  FakeTrials measurer;
  double used_s = 0;
  std::size_t begun = 0;
  const SearchRun run = run_search(
      *search, measurer, [&](const TrialOutcome& outcome) { used_s += outcome.duration_s; }, [] { return false; }, {},
      {.has_time = [&](double trial_s) { return used_s + trial_s <= 8; }, .begins = [&](const auto&) { ++begun; }});
  EXPECT_FALSE(run.failure);
  EXPECT_EQ(run.result.end, SearchEnd::time_used_up);
  EXPECT_LE(run.result.trial_s, 8);
  EXPECT_GT(run.result.trial_s, 6);
  EXPECT_EQ(begun, run.result.trials.size());
  const GoalResult& found = run.result.goals[0];
  EXPECT_EQ(found.irregular, Irregular::width_not_reached);
  ASSERT_TRUE(found.lower_so_far_pps && found.upper_so_far_pps);
  EXPECT_LT(*found.lower_so_far_pps, *found.upper_so_far_pps);
}

TEST(SearchRun, BoundsSoFarAreOfTheTrialsThereAre) {
  TrialLog log;
  const SearchGoal goal = *preset_goal("ndr");
  EXPECT_FALSE(log.bounds_so_far(goal).lower_pps || log.bounds_so_far(goal).upper_pps);
  const auto add = [&](double load_pps, double loss_ratio) {
    log.add(trial_of({.load_pps = load_pps, .duration_s = 1}, loss_ratio));
  };
  add(1000, 0), add(4000, 0.5), add(8000, 0);
  EXPECT_EQ(log.bounds_so_far(goal).lower_pps, 1000);
  EXPECT_EQ(log.bounds_so_far(goal).upper_pps, 4000) << "the lower load counts where a higher one loses less";
  EXPECT_FALSE(log.relevant_bounds(goal).lower_pps) << "one second of 21 decides nothing";
  add(4000, 0);
  EXPECT_EQ(log.bounds_so_far(goal).lower_pps, 8000) << "half of the trials may lose more";
  EXPECT_FALSE(log.bounds_so_far(goal).upper_pps);
}

TEST(SearchRun, KeepsWhatWasMeasuredBeforeAFailure) {
  const auto search = some_search();
  FakeTrials measurer(5);
  const SearchRun run = run_search(
      *search, measurer, [](const TrialOutcome&) {}, [] { return false; });
  ASSERT_TRUE(run.failure);
  EXPECT_EQ(run.failure->message, "the device broke");
  EXPECT_EQ(run.result.trials.size(), 5);
  EXPECT_EQ(run.result.end, SearchEnd::not_yet);
}

TEST(SearchRun, EndsWhereTheTrialWasAnotherThanAsked) {
  class Careless final : public TrialRunner {
   public:
    Result<double> ceiling_pps() override { return 1e6; }
    Result<TrialOutcome> measure(const TrialInput& input) override {
      return trial_of({.load_pps = input.load_pps / 2, .duration_s = input.duration_s}, 0);
    }
  } measurer;
  const auto search = some_search();
  std::size_t told = 0;
  const SearchRun run = run_search(
      *search, measurer, [&](const TrialOutcome&) { ++told; }, [&] { return told > 9; });
  EXPECT_TRUE(run.failure);
  EXPECT_TRUE(run.result.trials.empty());
}

/// A device that loses nothing up to a rate, tested by a host that pauses in some trials: what it makes up for arrives
/// in a burst, of which the device loses a part.
class DisturbedTrials final : public TrialRunner {
 public:
  explicit DisturbedTrials(double pauses, std::uint64_t seed = 1) : pauses_(pauses), random_(seed) {}

  Result<double> ceiling_pps() override { return 1e6; }
  Result<TrialOutcome> measure(const TrialInput& input) override {
    ++measured;
    const bool pauses = random_.uniform() < pauses_;
    TrialOutcome outcome =
        trial_of(input, std::max(hard_knee(3e5)(input, random_), pauses ? 0.02 * random_.uniform() + 0.001 : 0));
    if (pauses) outcome.host = {.late = outcome.sent / 20, .latest_ns = 30'000'000};
    return outcome;
  }

  std::size_t measured = 0;

 private:
  double pauses_;
  SplitMix64 random_;
};

SearchRun run_disturbed(DisturbedTrials& measurer, const RepeatPlan& repeats) {
  SearchGoal goal{.name = "half", .final_trial_s = 0.5, .duration_sum_s = 0.5, .width = 0.01, .initial_trial_s = 0.5};
  const auto search = *search_methods().front().make({.min_load_pps = 1000, .max_load_pps = 9e5, .goals = {goal}});
  return run_search(
      *search, measurer, [](const TrialOutcome&) {}, [] { return false; }, repeats);
}

constexpr RepeatPlan kRepeats{.most_load_pps = 9e5};

TEST(SearchRun, RunsTrialsAgainOfWhichTheHostMayHaveLostTooMuch) {
  DisturbedTrials quiet(0);
  const SearchRun alone = run_disturbed(quiet, kRepeats);
  EXPECT_EQ(alone.result.repeated, 0);
  EXPECT_EQ(quiet.measured, alone.result.trials.size());
  std::size_t repeated = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    DisturbedTrials busy(0.3, seed);
    const SearchRun run = run_disturbed(busy, kRepeats);
    const GoalResult& found = run.result.goals[0];
    const bool at_first = found.relevant_lower_bound->trials[0].runs == 1;  // one trial decides
    EXPECT_EQ(found.irregular, at_first ? Irregular::no : Irregular::run_again);
    EXPECT_EQ(found.relevant_lower_bound->load_pps, alone.result.goals[0].relevant_lower_bound->load_pps);
    EXPECT_EQ(found.relevant_upper_bound->load_pps, alone.result.goals[0].relevant_upper_bound->load_pps);
    EXPECT_EQ(busy.measured, run.result.trials.size() + run.result.repeated);
    repeated += run.result.repeated;
  }
  EXPECT_GT(repeated, 10);
}

/// A device that loses each frame by chance, and a third of all above 5000 pps, tested by a host that leaves some late
/// in each trial.
class LossyTrials final : public TrialRunner {
 public:
  LossyTrials(double loss, std::uint64_t late, std::uint64_t seed) : loss_(loss), late_(late), random_(seed) {}

  Result<double> ceiling_pps() override { return 1e6; }
  Result<TrialOutcome> measure(const TrialInput& input) override {
    TrialOutcome outcome = trial_of(input, 0);
    const double loss = input.load_pps < 5000 ? loss_ : 0.33;
    outcome.received -= std::binomial_distribution<std::uint64_t>(outcome.sent, loss)(random_);
    outcome.host = {.late = late_, .latest_ns = 30'000'000};
    return outcome;
  }

 private:
  double loss_;
  std::uint64_t late_;
  std::mt19937_64 random_;
};

/// Half of the trials of a second lose nothing at ln 2 / 0.0005 frames a second.
TEST(SearchRun, TakesNoRateForRegularThatADeviceHasByChoiceOfItsRuns) {
  constexpr double kLoss = 5e-4, kTruePps = 0.6931 / kLoss;
  const SearchGoal goal{.name = "half",
                        .exceed_ratio = 0.5,
                        .final_trial_s = 1,
                        .duration_sum_s = 1001,
                        .width = 0.02,
                        .initial_trial_s = 1};
  for (const std::uint64_t late : {0, 50}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto search =
          *search_methods().front().make({.min_load_pps = 300, .max_load_pps = 10'000, .goals = {goal}});
      LossyTrials measurer(kLoss, late, seed);
      const SearchRun run = run_search(
          *search, measurer, [](const TrialOutcome&) {}, [] { return false; }, kRepeats);
      const GoalResult& found = run.result.goals[0];
      EXPECT_EQ(found.irregular == Irregular::no, late == 0) << reasons_of(found);
      EXPECT_EQ(run.result.discarded.empty(), late == 0);
      if (found.irregular != Irregular::no) continue;
      EXPECT_NEAR(found.relevant_lower_bound->load_pps, kTruePps, 0.2 * kTruePps);
    }
  }
}

TEST(SearchRun, KeepsTheRunThatTheHostDisturbedLeastWhateverItLost) {
  class Worse final : public TrialRunner {  // with each run the host leaves fewer late, and the device loses more
   public:
    Result<double> ceiling_pps() override { return 1e6; }
    Result<TrialOutcome> measure(const TrialInput& input) override {
      TrialOutcome outcome = trial_of(input, 0);
      outcome.received -= 1 + measured % 3;
      outcome.host.late = 50 - 10 * (measured++ % 3);
      return outcome;
    }
    std::size_t measured = 0;
  } measurer;
  const SearchGoal goal{.name = "none", .final_trial_s = 1, .duration_sum_s = 1};
  const auto search = *search_methods().front().make({.min_load_pps = 1000, .max_load_pps = 1e6, .goals = {goal}});
  const SearchRun run = run_search(
      *search, measurer, [](const TrialOutcome&) {}, [&] { return measurer.measured > 9; },
      {.most_load_pps = 1e6, .most = 2});
  ASSERT_FALSE(run.result.trials.empty());
  ASSERT_EQ(run.result.discarded.size(), 2 * run.result.trials.size());
  for (const TrialOutcome& trial : run.result.trials) {
    EXPECT_TRUE(trial.runs == 3 && trial.host.late == 30) << trial.host.late;
    EXPECT_EQ(trial.offered - trial.received, 3u);
  }
  EXPECT_TRUE(run.result.discarded[0].trial == 0 && run.result.discarded[2].trial == 1);
  EXPECT_TRUE(run.result.discarded[0].outcome.host.late == 50 && run.result.discarded[1].outcome.host.late == 40);
}

TEST(SearchRun, SaysThatItMayBeTheHostWhereNoRunWasBetter) {
  for (const RepeatPlan& repeats : {kRepeats, RepeatPlan{}}) {
    DisturbedTrials busy(1);
    const SearchRun run = run_disturbed(busy, repeats);
    EXPECT_EQ(run.result.goals[0].irregular, Irregular::hosts_loss);
    EXPECT_EQ(run.result.repeated > 0, repeats.most_load_pps > 0);
    EXPECT_LE(busy.measured, 10 * run.result.trials.size()) << "nine more of each at most";
  }
}

TEST(SearchRun, RunsLongTrialsLessOftenAgain) {
  DisturbedTrials busy(1);
  const SearchRun run = run_disturbed(busy, {.most_load_pps = 9e5, .most_s = 1.6});
  EXPECT_EQ(busy.measured, 1 + 4 * (run.result.trials.size() - 1)) << "but the first, of which most is the device's";
}

TEST(TrialInput, HasAGraceThatChangesItsLoadByLessThanHalfOfAUsualWidth) {
  for (const double duration_s : {1.0, 1.5, 2.0, 60.0, 3600.0}) {
    const double reached_pps =
        1e6 * duration_s / (duration_s + static_cast<double>(grace_ns({1e6, duration_s})) * 1e-9);
    EXPECT_GT(reached_pps, 1e6 * (1 - SearchGoal().width / 2)) << duration_s;
  }
  EXPECT_EQ(grace_ns({1e6, 0.1}), 2'000'000u);
}

TEST(TrialOutcome, IsTheHostsDoingAsFarAsItsFramesWereLateUnsentMissedOrStolen) {
  TrialOutcome trial{.load_pps = 1000, .duration_s = 1, .offered = 1000, .sent = 990, .received = 900, .unsent = 10};
  EXPECT_DOUBLE_EQ(trial.loss_ratio(), 0.1);
  EXPECT_DOUBLE_EQ(trial.least_loss_ratio(), 0.09);
  trial.host = {.late = 20, .missed = 5, .stolen_ns = 30'000'000};
  EXPECT_NEAR(trial.least_loss_ratio(), 0.035, 1e-12);
  EXPECT_TRUE(trial.is_doubtful(0.04));
  EXPECT_FALSE(trial.is_doubtful(0.03)) << "the device lost more in any case";
  EXPECT_FALSE(trial.is_doubtful(0.1)) << "whoever it was, it is not too much";
  trial.host.late = 1000;
  EXPECT_EQ(trial.least_loss_ratio(), 0);
}

TEST(SearchRun, SaysThatFramesOfAnotherTrialCameInOneThatItRestsOn) {
  class Crowded final : public TrialRunner {
   public:
    explicit Crowded(double from_pps, double to_pps) : from_pps_(from_pps), to_pps_(to_pps) {}
    Result<double> ceiling_pps() override { return 1e6; }
    Result<TrialOutcome> measure(const TrialInput& input) override {
      TrialOutcome outcome = trial_of(input, hard_knee(3e5)(input, random_));
      outcome.strays = Strays{.foreign = 100};
      outcome.strays->contradictory = input.load_pps >= from_pps_ && input.load_pps < to_pps_ ? 1 : 0;
      return outcome;
    }

   private:
    double from_pps_, to_pps_;
    SplitMix64 random_{1};
  };
  const auto found = [](double from_pps, double to_pps) {
    Crowded measurer(from_pps, to_pps);
    const auto search = some_search();
    const SearchRun run = run_search(
        *search, measurer, [](const TrialOutcome&) {}, [] { return false; });
    return run.result.goals[0];
  };
  const GoalResult alone = found(0, 0);
  ASSERT_EQ(alone.irregular, Irregular::no);
  const double lower_pps = alone.relevant_lower_bound->load_pps, upper_pps = alone.relevant_upper_bound->load_pps;
  EXPECT_EQ(found(1.001 * upper_pps, 2e6).irregular, Irregular::no) << "no trial at a bound";
  EXPECT_EQ(found(0.999 * lower_pps, 1.001 * lower_pps).irregular, Irregular::strays);
  EXPECT_EQ(found(0.999 * upper_pps, 1.001 * upper_pps).irregular, Irregular::strays);
}

/// A trial that was cut short says nothing, and neither does a device that was taken down with it.
TEST(SearchRun, LeavesOutTheTrialInWhichItWasStopped) {
  for (const std::size_t works_for : {4, 100}) {
    const auto search = some_search();
    FakeTrials measurer(works_for);
    std::size_t asked = 0;
    const SearchRun run = run_search(
        *search, measurer, [](const TrialOutcome&) {}, [&] { return ++asked == 5; });
    EXPECT_FALSE(run.failure);
    EXPECT_EQ(run.result.trials.size(), 4);
  }
}

}  // namespace
}  // namespace parshall::tester
