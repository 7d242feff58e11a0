// SPDX-License-Identifier: Apache-2.0
#include "tester/search/search_goal.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tester/search/trial_outcome.hpp"

namespace parshall::tester {
namespace {

std::string problem(const SearchGoal& goal) {
  const std::vector<SearchGoal> goals{goal};
  const auto error = problem_of(goals);
  return error ? error->message : "";
}

TEST(SearchGoal, PresetsAreThoseOfTheirSources) {
  const SearchGoal rfc2544 = *preset_goal("rfc2544"), tst009 = *preset_goal("tst009");  // RFC 9971, 4.10.2 and 4.10.3
  EXPECT_TRUE(rfc2544.final_trial_s == 60 && rfc2544.duration_sum_s == 60);
  EXPECT_TRUE(rfc2544.loss_ratio == 0 && rfc2544.exceed_ratio == 0);
  EXPECT_TRUE(tst009.final_trial_s == 60 && tst009.duration_sum_s == 120);
  EXPECT_TRUE(tst009.loss_ratio == 0 && tst009.exceed_ratio == 0.5);
  const SearchGoal ndr = *preset_goal("ndr"), pdr = *preset_goal("pdr");
  for (const SearchGoal& goal : {ndr, pdr}) {
    EXPECT_TRUE(goal.initial_trial_s == 1 && goal.final_trial_s == 1 && goal.duration_sum_s == 21);
    EXPECT_TRUE(goal.exceed_ratio == 0.5 && goal.width == 0.005);
  }
  EXPECT_EQ(ndr.loss_ratio, 0);
  EXPECT_EQ(pdr.loss_ratio, 0.005);
}

TEST(SearchGoal, IsMetByTheFramesThatItsDecimalPercentageSays) {
  for (std::uint64_t k = 1; k < 1000; ++k) {
    const TrialOutcome trial{.load_pps = 1000, .duration_s = 1, .offered = 1000, .sent = 1000, .received = 1000 - k};
    const std::string percent = std::to_string(k / 10) + "." + std::to_string(k % 10);
    EXPECT_EQ(parse_goal("name=x,loss=" + percent + "%")->loss_ratio, trial.loss_ratio()) << percent;
  }
  EXPECT_EQ(parse_goal("name=x,loss=5e0%")->loss_ratio, 0.05);
  EXPECT_EQ(parse_goal("name=x,loss=0")->loss_ratio, 0);
}

TEST(SearchGoal, PresetsAreValidTogether) {
  const auto presets = preset_goals();
  EXPECT_FALSE(problem_of(presets));
  EXPECT_EQ(preset_goal("mrr").error().message,
            "there is no goal mrr; there are rfc2544, tst009, ndr, pdr (parshall list goals)");
}

TEST(SearchGoal, ThatCannotBeReachedIsRefused) {
  const SearchGoal good{.name = "good"};
  EXPECT_EQ(problem(good), "");
  const auto with = [&](auto change) {
    SearchGoal goal = good;
    change(goal);
    return problem(goal);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with([](SearchGoal& g) { g.name = ""; }), "a goal has no name");
  EXPECT_EQ(with([](SearchGoal& g) { g.loss_ratio = 1; }),
            "goal good: the loss ratio must be at least 0 and less than 1, not 1");
  EXPECT_NE(with([](SearchGoal& g) { g.loss_ratio = -0.1; }), "");
  EXPECT_NE(with([&](SearchGoal& g) { g.loss_ratio = nan; }), "");
  EXPECT_NE(with([](SearchGoal& g) { g.exceed_ratio = 1; }), "");
  EXPECT_NE(with([](SearchGoal& g) { g.exceed_ratio = -0.5; }), "");
  EXPECT_NE(with([](SearchGoal& g) { g.width = 0; }), "");
  EXPECT_NE(with([](SearchGoal& g) { g.width = 1; }), "");
  EXPECT_NE(with([](SearchGoal& g) { g.initial_trial_s = 0; }), "");
  EXPECT_EQ(with([](SearchGoal& g) { g.initial_trial_s = 61; }),
            "goal good: final trials must not be shorter than initial ones (61 s), not 60");
  EXPECT_EQ(with([](SearchGoal& g) { g.duration_sum_s = 59; }),
            "goal good: the duration sum must be at least that of one final trial (60 s), not 59");
  EXPECT_NE(with([](SearchGoal& g) { g.duration_sum_s = std::numeric_limits<double>::infinity(); }), "");
  EXPECT_EQ(problem_of(std::span<const SearchGoal>{})->message, "a search needs a goal");
  const std::vector<SearchGoal> twice{good, good};
  EXPECT_EQ(problem_of(twice)->message, "two goals have the name good");
}

TEST(SearchGoal, OfOnesOwnHasWhatWasSaidAndDefaults) {
  const SearchGoal all = *parse_goal("name=mine,loss=0.1%,exceed=50%,trial=300ms,sum=21s,width=2%,initial=100ms");
  EXPECT_EQ(all, (SearchGoal{.name = "mine",
                             .loss_ratio = 0.001,
                             .exceed_ratio = 0.5,
                             .final_trial_s = 0.3,
                             .duration_sum_s = 21,
                             .width = 0.02,
                             .initial_trial_s = 0.1}));
  EXPECT_EQ(*parse_goal("name=plain"), (SearchGoal{.name = "plain"}));
  const SearchGoal brief = *parse_goal("trial=500ms,name=brief,loss=0");
  EXPECT_TRUE(brief.duration_sum_s == 0.5 && brief.initial_trial_s == 0.5 && brief.loss_ratio == 0);
  EXPECT_EQ(parse_goal("name=two,trial=2s")->initial_trial_s, 1);
}

TEST(SearchGoal, OfOnesOwnIsRefusedByWhatIsWrongInIt) {
  const auto said = [](std::string_view text) {
    const auto goal = parse_goal(text);
    return goal ? "" : goal.error().message;
  };
  EXPECT_EQ(said("name=x,loss=0.5"), "goal \"name=x,loss=0.5\", at \"loss=0.5\": give loss such as loss=0.1%");
  EXPECT_EQ(said("name=x,los=1%"),
            "goal \"name=x,los=1%\", at \"los=1%\": give NAME=VALUE of name, loss, exceed, trial, sum, width and "
            "initial");
  EXPECT_EQ(said("name=x,trial=soon"), "goal \"name=x,trial=soon\", at \"trial=soon\": give trial such as trial=1s");
  EXPECT_EQ(said("name=x,sum=1s,sum=2s"), "goal \"name=x,sum=1s,sum=2s\", at \"sum=2s\": is given twice");
  EXPECT_EQ(said("loss=1%"), "a goal has no name");
  EXPECT_EQ(said("name=x,loss=100%"), "goal x: the loss ratio must be at least 0 and less than 1, not 1");
  for (const char* text : {"", "x", "name=x,", "name=x,loss", "name=x,loss=%", "name=x,loss=1%%", "name=x,loss=nan%",
                           "name=x,trial=-1s", "name=x,trial=0s", "name=x,loss=1% ", "=x"})
    EXPECT_EQ(said(text).empty(), std::string_view(text) == "name=x,") << text;
}

}  // namespace
}  // namespace parshall::tester
