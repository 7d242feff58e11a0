// SPDX-License-Identifier: Apache-2.0
#include "tester/search/search_run.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "devices.hpp"

namespace parshall::tester {
namespace {

/// A device in the place of a real one, which may break before some trial.
class FakeMeasurer final : public Measurer {
 public:
  explicit FakeMeasurer(std::size_t works_for = ~std::size_t{0}) : works_for_(works_for) {}

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
  FakeMeasurer measurer;
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

TEST(SearchRun, KeepsWhatWasMeasuredBeforeAFailure) {
  const auto search = some_search();
  FakeMeasurer measurer(5);
  const SearchRun run = run_search(
      *search, measurer, [](const TrialOutcome&) {}, [] { return false; });
  ASSERT_TRUE(run.failure);
  EXPECT_EQ(run.failure->message, "the device broke");
  EXPECT_EQ(run.result.trials.size(), 5);
  EXPECT_EQ(run.result.end, SearchEnd::not_yet);
}

TEST(SearchRun, EndsWhereTheTrialWasAnotherThanAsked) {
  class Careless final : public Measurer {
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

/// A trial that was cut short says nothing, and neither does a device that was taken down with it.
TEST(SearchRun, LeavesOutTheTrialInWhichItWasStopped) {
  for (const std::size_t works_for : {4, 100}) {
    const auto search = some_search();
    FakeMeasurer measurer(works_for);
    std::size_t asked = 0;
    const SearchRun run = run_search(
        *search, measurer, [](const TrialOutcome&) {}, [&] { return ++asked == 5; });
    EXPECT_FALSE(run.failure);
    EXPECT_EQ(run.result.trials.size(), 4);
  }
}

}  // namespace
}  // namespace parshall::tester
