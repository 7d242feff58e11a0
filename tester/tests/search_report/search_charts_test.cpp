// SPDX-License-Identifier: Apache-2.0
#include "tester/search_report/search_charts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sample.hpp"
#include "tester/search_report/report_values.hpp"

namespace parshall::tester {
namespace {

const ChartSeries& named(const Chart& chart, std::string_view name) {
  const auto found = std::ranges::find(chart.series, name, &ChartSeries::name);
  EXPECT_NE(found, chart.series.end()) << name;
  return *found;
}

bool has_level(const Chart& chart, std::string_view name) {
  return std::ranges::find(chart.levels, name, &ChartLevel::name) != chart.levels.end();
}

std::size_t marks(const Chart& chart) {
  std::size_t count = 0;
  for (const ChartSeries& series : chart.series) count += series.mark == Mark::none ? 0 : series.points.size();
  return count;
}

SearchResult hand_made() {
  const auto trial = [](double load_pps, double duration_s, std::uint64_t received) {
    return TrialOutcome{
        .load_pps = load_pps, .duration_s = duration_s, .offered = 100, .sent = 100, .received = received};
  };
  const SearchGoal goal{.name = "mine", .loss_ratio = 0.1, .final_trial_s = 1, .duration_sum_s = 1};
  SearchResult result{.trials = {trial(400, 0.5, 100), trial(800, 1, 50), trial(600, 0.5, 89), trial(500, 1, 90)}};
  result.goals = {{.goal = goal,
                   .relevant_lower_bound = RelevantBound{.load_pps = 500},
                   .relevant_upper_bound = RelevantBound{.load_pps = 600}}};
  return result;
}

TEST(TrialsChart, TellsTrialsApartByLossAndLength) {
  const Chart chart = trials_chart(hand_made(), 0, 1e6);
  const auto only = [&](std::string_view name, double x, double y) {
    const ChartSeries& series = named(chart, name);
    ASSERT_EQ(series.points.size(), 1) << name;
    EXPECT_EQ(series.points[0].x, x);
    EXPECT_EQ(series.points[0].y, y);
  };
  only("short, within", 1, 400);
  only("full length, above", 2, 800);
  only("short, above", 3, 600);
  only("full length, within the loss ratio", 4, 500);
}

TEST(TrialsChart, HasTheBoundsKnownAfterEachTrial) {
  const Chart chart = trials_chart(hand_made(), 0, 1e6);
  const auto& lower = named(chart, "relevant lower bound").points;
  const auto& upper = named(chart, "relevant upper bound").points;
  ASSERT_EQ(lower.size(), 5) << "and the end";
  EXPECT_TRUE(std::isnan(lower[2].y) && lower[3].y == 500);
  EXPECT_TRUE(std::isnan(upper[0].y) && upper[1].y == 800 && upper[3].y == 600);
}

TEST(TrialsChart, ShowsTheCeilingWhereLoadsComeNearIt) {
  EXPECT_FALSE(has_level(trials_chart(hand_made(), 0, 1e6), "generator's ceiling"));
  EXPECT_TRUE(has_level(trials_chart(hand_made(), 0, 1000), "generator's ceiling"));
}

TEST(LossChart, HasEachTrialOnceAndTheGoal) {
  const SearchReport report = sample_report();
  const SearchResult& search = report.sizes[0].searches[0];
  const Chart chart = loss_chart(search, 1, 2e6);
  EXPECT_EQ(marks(chart), search.trials.size());
  EXPECT_EQ(chart.levels[0].value, 0.5) << "per cent";
  EXPECT_EQ(chart.levels[1].value, search.goals[1].relevant_lower_bound->load_pps);
}

TEST(LastTrials, AreThoseNearTheBounds) {
  const SearchReport report = sample_report();
  const SearchResult& search = report.sizes[0].searches[0];
  const auto near = last_trials_chart(search, 1), losses = last_loss_chart(search, 1);
  ASSERT_TRUE(near && losses);
  EXPECT_GT(marks(*near), 2);
  EXPECT_LT(marks(*near), search.trials.size());
  EXPECT_EQ(marks(*losses), marks(*near));
  for (const ChartPoint& point : near->series.back().points) EXPECT_NEAR(point.y, 5e5, 2e4);
  EXPECT_FALSE(last_trials_chart(hand_made(), 0)) << "they fill the chart";
}

TEST(RepeatsChart, HasEachSearchAndTheMedian) {
  const SearchReport report = sample_report();
  const Chart chart = repeats_chart(report.sizes[0], 0);
  EXPECT_EQ(chart.series[0].points.size(), 3);
  EXPECT_EQ(chart.series[1].points.size(), 0);
  EXPECT_TRUE(has_level(chart, "median") && has_level(chart, "mean and its 95 % interval"));
  EXPECT_LT(*chart.series[0].points[0].low, *chart.series[0].points[0].high);
}

TEST(SizesChart, IsInFramesOrBitsOfTheLineBesideTheCeiling) {
  SearchReport report = sample_report();
  report.sizes[1] = report.sizes[0];
  report.sizes[1].size = "512";
  report.sizes[1].line_bytes = 532;
  const Chart frames = sizes_chart(report, SizeUnit::frames), bits = sizes_chart(report, SizeUnit::line_bits);
  ASSERT_EQ(frames.x.categories, (std::vector<std::string>{"64", "512"}));
  EXPECT_EQ(named(frames, "generator's ceiling").points[1].y, 2e6);
  EXPECT_EQ(named(bits, "generator's ceiling").points[1].y, 2e6 * 532 * 8);
  EXPECT_NEAR(named(frames, "ndr").points[1].y, 5e5, 1e4);
  EXPECT_DOUBLE_EQ(named(bits, "ndr").points[1].y, named(frames, "ndr").points[1].y * 532 * 8);
}

TEST(SizesChart, TellsIrregularResultsFromOthers) {
  SearchReport report = sample_report();
  report.sizes[1] = report.sizes[0];
  for (SearchResult& search : report.sizes[1].searches) search.goals[1].irregular = Irregular::width_not_reached;
  const Chart chart = sizes_chart(report, SizeUnit::frames);
  EXPECT_EQ(named(chart, "pdr").points.size(), 1);
  ASSERT_EQ(named(chart, "pdr, irregular").points.size(), 1);
  EXPECT_NE(named(chart, "pdr, irregular").mark, named(chart, "pdr").mark);
}

TEST(GoalRows, AreOfRegularResultsWhereThereAreAny) {
  SearchReport report = sample_report();
  const auto with = [&](std::vector<GoalResult> results) {
    report.sizes.resize(1);
    report.sizes[0].searches.clear();
    for (GoalResult& result : results) report.sizes[0].searches.push_back({.goals = {std::move(result)}});
    return goal_rows(report).front();
  };
  const auto result = [](double pps, Irregular irregular) {
    const RelevantBound bound{.load_pps = pps};
    return GoalResult{.relevant_lower_bound = bound,
                      .relevant_upper_bound = irregular == Irregular::no ? std::optional(bound) : std::nullopt,
                      .conditional_throughput_pps = pps,
                      .irregular = irregular};
  };
  const GoalRow some = with({result(1000, Irregular::no), result(9000, Irregular::no_upper_bound),
                             result(8000, Irregular::no_upper_bound), result(3000, Irregular::no)});
  EXPECT_EQ(*some.throughput_pps, 2000);
  EXPECT_TRUE(some.is_regular);
  EXPECT_EQ(some.judgement, "2 of 4 searches regular, others irregular: the goal is met at the largest load");
  const GoalRow none = with({result(8000, Irregular::no_upper_bound), result(1900000, Irregular::no_upper_bound)});
  EXPECT_EQ(*none.lower_pps, 954000);
  EXPECT_FALSE(none.is_regular || none.upper_pps);
  EXPECT_EQ(none.judgement,
            "0 of 2 searches regular, others irregular: the goal is met at the largest load; the generator's limit");
}

}  // namespace
}  // namespace parshall::tester
