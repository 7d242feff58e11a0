// SPDX-License-Identifier: Apache-2.0
#include "tester/search_report/search_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sample.hpp"
#include "tester/chart/number_text.hpp"
#include "tester/search/repeat_statistics.hpp"

namespace parshall::tester {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class EveryFormat : public ::testing::TestWithParam<SearchFormat> {
 protected:
  static std::string write(const SearchReport& report) { return GetParam().write(report); }
  static std::string generators_limit() {
    return GetParam().name == "json"   ? "\"generators_limit\": true"
           : GetParam().name == "html" ? "the generator&#39;s limit"
                                       : "the generator's limit";
  }
};

INSTANTIATE_TEST_SUITE_P(SearchReport, EveryFormat,
                         ::testing::ValuesIn(search_formats().begin(), search_formats().end()),
                         [](const auto& format) { return std::string(format.param.name); });

TEST_P(EveryFormat, HasWhatWasDoneAndWhere) {
  const std::string text = write(sample_report());
  for (const char* part :
       {"parshall test search --some", "a device", "flows=10", "mlr", "1.2.3", "2026-01-02 03:04:05", "1 s (deviates)",
        "some CPU", "6.1", "ndr", "pdr", "64", "imix", "all goals decided", "effective duration"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST_P(EveryFormat, HasTheSeed) {
  SearchReport report = sample_report();
  report.seed = 271828182845;
  EXPECT_THAT(write(report), HasSubstr("271828182845"));
  EXPECT_THAT(write(report), Not(HasSubstr("another in each trial")));
  report.sizes[1].searches[2].trials[3].seed = 314159265358;
  EXPECT_THAT(write(report), HasSubstr(GetParam().name == "text" ? "another in each trial" : "314159265358"));
}

TEST_P(EveryFormat, SaysWhatWasRunAgainAndWhatTheHostMayHaveLost) {
  SearchReport report = sample_report();
  report.sizes.resize(1);
  report.sizes[0].searches.resize(1);
  const std::string again = GetParam().name == "json" ? "\"repeated\": 17," : "17 more were run again";
  const std::string hosts = "had no CPU time";
  EXPECT_THAT(write(report), Not(HasSubstr(again)));
  EXPECT_THAT(write(report), Not(HasSubstr(hosts)));
  report.sizes[0].searches[0].repeated = 17;
  report.sizes[0].searches[0].goals[0].irregular = Irregular::hosts_loss;
  EXPECT_THAT(write(report), HasSubstr(again));
  EXPECT_THAT(write(report), HasSubstr(hosts));
}

TEST_P(EveryFormat, SaysAllThatAResultLacks) {
  SearchReport report = sample_report();
  GoalResult& goal = report.sizes[0].searches[0].goals[0];
  goal.irregular = Irregular::no_upper_bound;
  goal.further = {Irregular::run_again, Irregular::strays};
  for (const char* reason : {"met at the largest load", "depends on trials that were run again", "of another trial"})
    EXPECT_THAT(write(report), HasSubstr(reason));
}

TEST(SearchJson, HasEveryRunAndWhatCameInItBesideItsOwnFrames) {
  SearchReport report = sample_report();
  SearchResult& search = report.sizes[0].searches[0];
  TrialOutcome outcome = search.trials[2];
  outcome.host.late = 7;
  outcome.strays = Strays{.contradictory = 3, .corrupted = 2, .foreign = 1};
  search.discarded = {{.trial = 2, .outcome = outcome}};
  const auto json = nlohmann::json::parse(search_json(report))["sizes"][0]["searches"][0];
  ASSERT_EQ(json["discarded"].size(), 1);
  const auto& run = json["discarded"][0];
  EXPECT_EQ(run["trial"], 2);
  EXPECT_EQ(run["load_pps"], outcome.load_pps);
  EXPECT_EQ(run["loss_ratio"], outcome.loss_ratio());
  EXPECT_EQ(run["hosts_share"], 7);
  EXPECT_TRUE(run["contradictory"] == 3 && run["corrupted"] == 2 && run["foreign"] == 1);
  EXPECT_TRUE(json["trials"][2]["contradictory"].is_null()) << "where nobody told what came";
}

TEST_P(EveryFormat, HasNoMoreDigitsThanCount) {
  if (GetParam().name == "json") return;  // numbers themselves
  SearchReport report = sample_report();
  for (SearchGoal& goal : report.goals) goal.initial_trial_s = goal.final_trial_s = goal.duration_sum_s = 0.1 + 0.2;
  for (SizeSearches& size : report.sizes)
    for (SearchResult& search : size.searches)
      for (TrialOutcome& trial : search.trials) trial.duration_s = 0.1 + 0.2;
  const std::string text = write(report);
  const std::size_t at = text.find("0000000000");
  EXPECT_EQ(at, std::string::npos) << text.substr(at < 100 ? 0 : at - 100, 200);
}

TEST_P(EveryFormat, NamesIrregularResultsAsSuch) {
  SearchReport report = sample_report();
  report.sizes[1].searches.resize(1);
  const char* const why = "the search ended before the bounds were close enough";
  EXPECT_THAT(write(report), HasSubstr(why));
  report.sizes.pop_back();
  EXPECT_THAT(write(report), Not(HasSubstr(why)));
}

TEST_P(EveryFormat, MarksWhatIsTheGeneratorsLimit) {
  SearchReport report = sample_report();
  report.sizes.resize(1);
  report.sizes[0].searches.resize(1);
  const std::string mark = generators_limit();
  const double lower_pps = report.sizes[0].searches[0].goals[1].relevant_lower_bound->load_pps;
  report.sizes[0].ceiling_pps = lower_pps / 0.89;
  EXPECT_THAT(write(report), Not(HasSubstr(mark)));
  report.sizes[0].ceiling_pps = lower_pps / 0.91;
  EXPECT_THAT(write(report), HasSubstr(mark));
}

TEST_P(EveryFormat, MarksLossesThatAreTheGenerators) {
  SearchReport report = sample_report();
  report.sizes.resize(1);
  report.sizes[0].searches.resize(1);
  const std::string mark = generators_limit();
  std::vector<TrialOutcome>& trials = report.sizes[0].searches[0].goals[1].relevant_upper_bound->trials;
  const auto blame = [&](double share) {
    for (TrialOutcome& trial : trials) {
      const std::uint64_t lost = std::max(trial.offered, trial.sent) - std::min(trial.offered, trial.received);
      trial.unsent = static_cast<std::uint64_t>(share * static_cast<double>(lost));
    }
  };
  blame(0.4);
  EXPECT_THAT(write(report), Not(HasSubstr(mark)));
  blame(0.6);
  EXPECT_THAT(write(report), HasSubstr(mark));
}

TEST_P(EveryFormat, SaysWhatEndedTheTest) {
  SearchReport report = sample_report();
  EXPECT_THAT(write(report), Not(HasSubstr("the device broke")));
  report.failure = "the device broke";
  EXPECT_THAT(write(report), HasSubstr("the device broke"));
}

TEST_P(EveryFormat, HasTheStatisticsOfRepeatedSearches) {
  const SearchReport report = sample_report();
  const Spread spread = *repeat_statistics(report.sizes[0].searches)[1].conditional_throughput_pps;
  const std::string text = write(report);
  if (GetParam().name == "json") {
    const auto found = nlohmann::json::parse(text)["sizes"][0]["repeats"][1];
    EXPECT_EQ(found["regular"], 3);
    EXPECT_EQ(found["irregular"], 0);
    const auto throughput = found["conditional_throughput_pps"];
    EXPECT_EQ(throughput["median"], spread.median);
    EXPECT_EQ(throughput["mean"], spread.mean);
    EXPECT_EQ(throughput["half_width_95"], *spread.half_width);
    EXPECT_EQ(throughput["variation"], *spread.variation);
    return;
  }
  for (const double pps : {spread.median, spread.mean, *spread.half_width})
    EXPECT_THAT(text, HasSubstr(number_text(pps, "pps")));
  EXPECT_THAT(text, HasSubstr(percent_text(*spread.variation)));
}

TEST_P(EveryFormat, OfNoSearchIsWrittenToo) {
  SearchReport report = sample_report();
  for (SizeSearches& size : report.sizes) size.searches.clear();
  EXPECT_THAT(write(report), HasSubstr("a device"));
  report.sizes.clear();
  EXPECT_THAT(write(report), HasSubstr("a device"));
}

/// RFC 9971: goal attributes (4.6), min and max load (4.6.8), results (4.8).
TEST(SearchText, HasTheAttributesOfGoalsAndResults) {
  SearchReport report = sample_report();
  report.goals = {{.name = "mine",
                   .loss_ratio = 0.0011,
                   .exceed_ratio = 0.25,
                   .final_trial_s = 2,
                   .duration_sum_s = 23,
                   .width = 0.0077,
                   .initial_trial_s = 0.5}};
  const std::string text = search_text(report);
  for (const char* part : {"loss ratio 0.11 %", "0.5 s (initial)", "2 s (final)", "23 s in total", "(duration sum)",
                           "25 % of them may lose more", "width 0.77 %", "1 kpps (min load)", "1 Mpps (max load)",
                           "sends at most 2 Mpps", "stolen by other guests 1.23 %"})
    EXPECT_THAT(text, HasSubstr(part));
  const GoalResult& result = report.sizes[0].searches[0].goals[1];
  EXPECT_THAT(text, HasSubstr(number_text(*result.conditional_throughput_pps, "pps") + " (conditional throughput)"));
  EXPECT_THAT(text, HasSubstr("relevant lower bound " + number_text(result.relevant_lower_bound->load_pps, "pps") +
                              ", relevant upper bound " + number_text(result.relevant_upper_bound->load_pps, "pps")));
}

TEST(SearchJson, HasTheNumbersThemselves) {
  const SearchReport report = sample_report();
  const auto found = nlohmann::json::parse(search_json(report));
  ASSERT_EQ(found["sizes"].size(), 2);
  const auto& size = found["sizes"][0];
  EXPECT_EQ(size["generator_pps"], 2e6);
  EXPECT_EQ(size["max_load_pps"], 1e6);
  const SearchResult& search = report.sizes[0].searches[2];
  const auto& written = size["searches"][2];
  ASSERT_EQ(written["trials"].size(), search.trials.size());
  for (std::size_t i = 0; i < search.trials.size(); ++i) {
    EXPECT_EQ(written["trials"][i]["load_pps"], search.trials[i].load_pps);
    EXPECT_EQ(written["trials"][i]["received"], search.trials[i].received);
    EXPECT_EQ(written["trials"][i]["loss_ratio"], search.trials[i].loss_ratio());
  }
  const auto& goal = written["goals"][1];
  const double throughput_pps = *search.goals[1].conditional_throughput_pps;
  EXPECT_EQ(goal["conditional_throughput_pps"], throughput_pps);
  EXPECT_EQ(goal["conditional_throughput_line_bps"], throughput_pps * 84 * 8);
  EXPECT_EQ(goal["relevant_lower_bound_pps"], search.goals[1].relevant_lower_bound->load_pps);
  EXPECT_EQ(goal["relevant_upper_bound_pps"], search.goals[1].relevant_upper_bound->load_pps);
  EXPECT_EQ(goal["regular"], true);
  EXPECT_EQ(found["sizes"][1]["searches"][0]["goals"][0]["regular"], false);
  EXPECT_TRUE(found["failure"].is_null());
}

TEST(SearchHtml, NeedsNothingElseAndRunsNothing) {
  const std::string page = search_html(sample_report());
  for (const char* part : {"<script", "src=", "href=", "url(", "@import", "nan", "inf\""})
    EXPECT_THAT(page, Not(HasSubstr(part)));
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
}

TEST(SearchHtml, EscapesWhatOthersSay) {
  SearchReport report = sample_report();
  const std::string evil = "<script>'\"&";
  report.command = report.device = report.traffic = report.failure = report.version = evil;
  report.phases = report.machine = {{evil, evil}};
  report.goals[0].name = evil;
  for (SizeSearches& size : report.sizes) {
    size.size = evil;
    for (SearchResult& search : size.searches) search.goals[0].goal.name = evil;
  }
  const std::string page = search_html(report);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;&#39;&quot;&amp;"));
}

/// One search in which each trial may be looked up, whatever else is drawn.
TEST(SearchHtml, HasAllTrialsOfAllSearches) {
  SearchReport report = sample_report();
  const SearchResult search = report.sizes[1].searches[0];
  report.sizes.resize(1);
  report.sizes[0].searches.assign(60, search);
  const std::string page = search_html(report);
  std::size_t tables = 0;
  for (std::size_t at = 0; (at = page.find("<summary>All 4 trials", at)) != std::string::npos; ++at) ++tables;
  EXPECT_EQ(tables, 60);
}

}  // namespace
}  // namespace parshall::tester
