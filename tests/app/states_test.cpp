// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/live/screen.hpp"
#include "app/live/table.hpp"
#include "reports.hpp"

namespace parshall::live {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Size kUsual{80, 24};

/// As of a worker whose tasks left out flows for `reduced_s` of so many seconds.
ReportSummary adaptive(double seconds, double reduced_s, std::uint64_t infeasible) {
  ReportSummary summary;
  summary.adaptation = AdaptationSummary{.mode = "adapt",
                                         .seconds = seconds,
                                         .reduced_s = reduced_s,
                                         .windows = static_cast<std::uint64_t>(100 * seconds),
                                         .infeasible = infeasible,
                                         .overhead_share = 0.001,
                                         .longest_us = 41};
  summary.states = {{"light", 1'000'000, 1'000'000},
                    {"heavy", static_cast<std::uint64_t>(4e6 * seconds),
                     static_cast<std::uint64_t>(4e6 * seconds - 2e6 * reduced_s)}};
  return summary;
}

/// Of 300 flows, after a report at 2 s and one at 3 s; the first, where there was none before.
View states_view(const std::vector<ReportSummary>& summaries, bool final = false) {
  MadeReport made;
  for (std::uint32_t i = 0; i < 300; ++i) made.flows.push_back(flow(i, 1000));
  Table table;
  std::uint64_t number = 0;
  for (const ReportSummary& summary : summaries) {
    Report report = made.report(number + 1, static_cast<double>(number + 2), final && number + 1 == summaries.size());
    report.summary.adaptation = summary.adaptation;
    report.summary.states = summary.states;
    report.summary.total.set(Counter::nic_missed, 1000 * number);
    ++number;
    table.load(report, [] {});
    table.commit();
  }
  return *table.rows().arrange({}, {}, [] { return false; });
}

View usual_view() { return states_view({adaptive(2, 0.5, 3), adaptive(3, 1.25, 7)}); }

Pulse usual_pulse() {
  return {.elapsed_s = 3,
          .polled_pps = {1e6, 1e6},
          .events = {"an event"},
          .recalls = {{"bursty", 0.75, 0.981, 0.93, 120'000, 345, 1000,
                       "00:00:02  bursty  found about 98 % of its events, and this goes on for more than a line"},
                      {"latency-change", 0.75, 0.5, 0.25, 10, 10, 0, {}},
                      {"retransmissions", 0.5, {}, {}, 0, 77, 0, {}}}};
}

State shown() {
  State state(/*own_columns=*/false, /*packets_only=*/false, /*has_states=*/true);
  state.press({Key::text, 'w'}, 0);
  return state;
}

std::vector<std::string> states_text(const std::vector<Line>& lines) {
  std::vector<std::string> all;
  for (const Line& line : lines) {
    all.emplace_back();
    for (const Piece& piece : line) all.back() += piece.text;
  }
  return all;
}

std::string screen_of(const State& state, const View& view, const Pulse& pulse, Size size = kUsual) {
  std::string all;
  for (const std::string& line : states_text(draw(state, &view, pulse, size, Glyphs::ascii))) all += line + "\n";
  return all;
}

std::string squeezed(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' || out.empty() || out.back() != ' ') out += c;
  return out;
}

TEST(LiveStates, TheUsualScreenHasRoomForAllThereIsToSay) {
  const std::string screen = squeezed(screen_of(shown(), usual_view(), usual_pulse()));
  EXPECT_THAT(screen, HasSubstr("overload adapt tasks leave out flows 75 % of the time in all 1.25 of 3 s"));
  EXPECT_THAT(screen, HasSubstr("no time for all packets in 7 of 300 windows, lately in 4 of 100"));
  EXPECT_THAT(screen, HasSubstr("decisions took 0.1 % of the time, 41 us at most\n"));
  EXPECT_THAT(screen, HasSubstr("missed 1000 of 301 k packets, lately 100 %"));
  EXPECT_THAT(screen, HasSubstr("\nlight 1000000 0 % 0 -\n"));
  EXPECT_THAT(screen, HasSubstr("\nheavy 12000000 20.8 % 4.00 M 37.5 %\n"));
  EXPECT_THAT(screen, HasSubstr("\nbursty 0.981 0.930 0.750 120 k 345 1000\n"));
  EXPECT_THAT(screen, HasSubstr("1000\n 00:00:02 bursty found about 98 % of its events, and this goes on for more\n"
                                " than a line\nlatency-change "));
  EXPECT_THAT(screen, HasSubstr("\nretransmissions - - 0.500 0 77 0\n"));
  EXPECT_THAT(screen, HasSubstr(">= (95 %)"));
  EXPECT_THAT(screen, HasSubstr("counted"));
  EXPECT_THAT(screen, Not(HasSubstr("~\n"))) << "nothing is cut";
  EXPECT_THAT(screen, Not(HasSubstr("10.0."))) << "no flows";
  EXPECT_THAT(screen, Not(HasSubstr("an event"))) << "they leave their room";
}

TEST(LiveStates, TasksBelowTheirRecallAndWhatIsNotEnoughStandOut) {
  std::vector<std::string> warned;
  for (const Line& line :
       draw(shown(), std::make_unique<View>(usual_view()).get(), usual_pulse(), kUsual, Glyphs::ascii))
    for (const Piece& piece : line)
      if (piece.style == Style::warning) warned.push_back(piece.text.substr(0, piece.text.find(' ')));
  EXPECT_THAT(warned, ElementsAre("overload", "no", "missed", "latency-change", "retransmissions"));
}

TEST(LiveStates, NothingIsSaidOfLateBeforeTheSecondReportAndAfterTheEnd) {
  for (const View& view :
       {states_view({adaptive(2, 0.5, 3)}), states_view({adaptive(1, 0, 0), adaptive(2, 0.5, 3)}, true)}) {
    const std::string screen = squeezed(screen_of(shown(), view, usual_pulse()));
    EXPECT_THAT(screen, HasSubstr("tasks left out flows in 0.5 of 2 s"));
    EXPECT_THAT(screen, HasSubstr("no time for all packets in 3 of 200 windows\n"));
    EXPECT_THAT(screen, HasSubstr("\nheavy 8000000 12.5 % - -\n"));
  }
}

TEST(LiveStates, FitsEverySizeAndScrollsToItsLastLine) {
  const View view = usual_view();
  const Pulse pulse = usual_pulse();
  for (std::size_t columns = 1; columns < 120; columns += columns < 30 ? 1 : 10)
    for (std::size_t lines = 1; lines < 40; ++lines) {
      const Size size{columns, lines};
      State state = shown();
      state.fit(body_lines(state, view, pulse), lay_out(size, &view, shown_events(state, pulse)).rows, kFixedColumns);
      state.press({Key::end}, 0);
      const auto screen = states_text(draw(state, &view, pulse, size, Glyphs::ascii));
      ASSERT_LE(screen.size(), lines);
      for (const std::string& line : screen) ASSERT_LE(width_of(line), columns) << columns << "x" << lines;
      if (columns < 20 || lines < 5) continue;
      ASSERT_THAT(screen, ::testing::Contains(::testing::StartsWith("retransmissions"))) << columns << "x" << lines;
    }
}

TEST(LiveStates, TheKeyTakesThemAwayAgainAndSoDoesAChoiceOfFlows) {
  const View view = usual_view();
  for (const char key : {'w', 'f', 'i', 't', '/'}) {
    State state = shown();
    state.fit(20, 5, kFixedColumns);
    state.press({Key::end}, 0);
    EXPECT_TRUE(state.states_shown());
    state.press({Key::text, key}, 1);
    EXPECT_FALSE(state.states_shown()) << key;
    EXPECT_EQ(state.arrangement().first, 0u) << key;
  }
}

TEST(LiveStates, ARunWithoutStatesSaysSoAndShowsNothingOfThem) {
  State state(/*own_columns=*/false, /*packets_only=*/false);
  state.press({Key::text, 'w'}, 0);
  EXPECT_FALSE(state.states_shown());
  EXPECT_THAT(state.message(), HasSubstr("--states"));
  EXPECT_THAT(screen_of(state, states_view({{}, {}}), {}), Not(HasSubstr("overload")));
}

TEST(LiveStates, WithoutLighterStatesThereAreThePacketsAlone) {
  ReportSummary summary = adaptive(2, 0, 0);
  summary.adaptation.reset();
  const std::string screen = screen_of(shown(), states_view({summary}), {});
  EXPECT_THAT(screen, HasSubstr("heavy"));
  for (const char* const said : {"overload", "decisions", "recall"}) EXPECT_THAT(screen, Not(HasSubstr(said)));
}

WindowRecall told(std::string task, std::uint64_t number, std::optional<double> recall) {
  WindowRecall window{.task = std::move(task), .threshold = 0.5, .recall = recall, .at_least = recall};
  if (recall) *window.at_least /= 2;
  window.window.number = number;
  window.window.totals.missed_packets = 3;
  window.flows_seen = 10;
  window.flows_missed = number;
  return window;
}

TEST(RecallTail, HasTheLatestWindowsOfEachTask) {
  RecallTail tail;
  EXPECT_TRUE(tail.tasks().empty());
  for (std::uint64_t i = 0; i < 25; ++i) {
    tail.recall(told("one", i, i < 20 ? 0.1 : 0.8));
    tail.recall(told("other", i, std::nullopt));
  }
  const auto tasks = tail.tasks();
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].task, "one");
  EXPECT_NEAR(*tasks[0].recall, 0.45, 1e-12);
  EXPECT_NEAR(*tasks[0].at_least, 0.05, 1e-12);
  EXPECT_EQ(tasks[0].flows_seen, 100u);
  EXPECT_EQ(tasks[0].flows_missed, 15u + 16 + 17 + 18 + 19 + 20 + 21 + 22 + 23 + 24);
  EXPECT_EQ(tasks[0].packets_missed, 30u);
  EXPECT_FALSE(tasks[1].recall);
  EXPECT_FALSE(tasks[1].at_least);
  tail.recall(told("other", 25, 0.4));
  EXPECT_EQ(tail.tasks()[1].recall, 0.4) << "of the windows that are known";
}

TEST(RecallTail, SaysWhatWasMissedLastUntilThatWindowIsNoLongerAmongTheLatest) {
  RecallTail tail;
  Event event{.task = "one", .window = {}, .part = nullptr, .key = {}, .values = {}, .error = {}};
  const auto put = [&](EventKind kind, std::uint64_t window) {
    event.kind = kind;
    event.window.number = window;
    tail.event(event);
  };
  for (std::uint64_t i = 0; i < 10; ++i) {
    tail.recall(told("one", i, 1));
    tail.recall(told("other", i, 1));
    if (i == 3) put(EventKind::recall, i);
    if (i == 5) put(EventKind::finding, i);
  }
  EXPECT_THAT(tail.tasks()[0].latest_event, HasSubstr("1970-01-01T00:00:03Z  one  nothing is known of what it missed"));
  EXPECT_EQ(tail.tasks()[1].latest_event, "");
  for (std::uint64_t i = 10; i < 13; ++i) tail.recall(told("one", i, 1));
  EXPECT_NE(tail.tasks()[0].latest_event, "") << "window 3 is the earliest of ten";
  tail.recall(told("one", 13, 1));
  EXPECT_EQ(tail.tasks()[0].latest_event, "");
}

}  // namespace
}  // namespace parshall::live
