// SPDX-License-Identifier: Apache-2.0
#include "app/live/state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/output/records/schema.hpp"
#include "reports.hpp"

namespace parshall::live {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

void type(State& state, std::string_view text, double now_s = 0) {
  for (const char c : text) state.press({Key::text, c}, now_s);
}

State state_of(std::uint64_t rows, std::size_t on_screen, std::size_t columns = kFixedColumns) {
  State state(/*own_columns=*/false, /*packets_only=*/false);
  state.fit(rows, on_screen, columns);
  return state;
}

TEST(LiveState, ArrowsGoThroughTheSortColumnsAndAround) {
  State state = state_of(10, 5, kFixedColumns + 1);
  EXPECT_EQ(state.arrangement().sort, kBps);
  for (const std::size_t next : {kPackets, kBytes, kFixedColumns, kProtocol}) {
    state.press({Key::right}, 0);
    EXPECT_EQ(state.arrangement().sort, next);
  }
  state.press({Key::left}, 0);
  EXPECT_EQ(state.arrangement().sort, kFixedColumns);
}

TEST(LiveState, AnglesDoWhatArrowsDo) {
  State state = state_of(10, 5, kFixedColumns + 1);
  state.press({Key::text, '>'}, 0);
  EXPECT_EQ(state.arrangement().sort, kPackets);
  state.press({Key::text, '<'}, 0);
  EXPECT_EQ(state.arrangement().sort, kBps);
}

TEST(LiveState, ScrollingStopsAtBothEnds) {
  State state = state_of(100, 30);
  state.press({Key::up}, 0);
  EXPECT_EQ(state.arrangement().first, 0);
  state.press({Key::page_down}, 0);
  EXPECT_EQ(state.arrangement().first, 30);
  state.press({Key::end}, 0);
  EXPECT_EQ(state.arrangement().first, 70);
  state.press({Key::down}, 0);
  EXPECT_EQ(state.arrangement().first, 70);
  state.press({Key::page_up}, 0);
  EXPECT_EQ(state.arrangement().first, 40);
  state.press({Key::home}, 0);
  EXPECT_EQ(state.arrangement().first, 0);
}

TEST(LiveState, TheCursorMovesTheRowsOnlyAtTheEdges) {
  State state = state_of(100, 30);
  for (int i = 0; i < 29; ++i) state.press({Key::down}, 0);
  EXPECT_EQ(state.cursor(), 29);
  EXPECT_EQ(state.arrangement().first, 0);
  state.press({Key::down}, 0);
  EXPECT_EQ(state.arrangement().first, 1);
  state.press({Key::end}, 0);
  EXPECT_EQ(state.cursor(), 99);
  for (int i = 0; i < 30; ++i) state.press({Key::up}, 0);
  EXPECT_EQ(state.cursor(), 69);
  EXPECT_EQ(state.arrangement().first, 69);
  state.fit(10, 30, kFixedColumns);
  EXPECT_EQ(state.cursor(), 9);
}

TEST(LiveState, AShrinkingTableTakesTheScrollPositionBack) {
  State state = state_of(100, 30);
  state.press({Key::end}, 0);
  state.fit(50, 30, kFixedColumns);
  EXPECT_EQ(state.arrangement().first, 20);
  state.fit(0, 30, kFixedColumns);
  EXPECT_EQ(state.arrangement().first, 0);
}

TEST(LiveState, LettersAreTheFilterWhileItIsTypedAndCommandsAfterwards) {
  State state = state_of(100, 30);
  type(state, "/qpr");
  EXPECT_FALSE(state.quit());
  EXPECT_FALSE(state.paused());
  EXPECT_EQ(state.arrangement().filter, "qpr");
  state.press({Key::backspace}, 0);
  EXPECT_EQ(state.arrangement().filter, "qp");
  state.press({Key::enter}, 0);
  EXPECT_FALSE(state.editing_filter());
  EXPECT_EQ(state.arrangement().filter, "qp");
  state.press({Key::escape}, 0);
  EXPECT_THAT(state.arrangement().filter, IsEmpty());
  type(state, "q");
  EXPECT_TRUE(state.quit());
}

TEST(LiveState, EscapeWhileTypingClearsTheFilter) {
  State state = state_of(100, 30);
  type(state, "/udp");
  state.press({Key::escape}, 0);
  EXPECT_THAT(state.arrangement().filter, IsEmpty());
  EXPECT_FALSE(state.editing_filter());
}

TEST(LiveState, TypingAFilterGoesToTheTop) {
  State state = state_of(100, 30);
  state.press({Key::end}, 0);
  type(state, "/u");
  EXPECT_EQ(state.arrangement().first, 0);
}

TEST(LiveState, AnyKeyClosesTheHelpAndDoesNothingElse) {
  State state = state_of(100, 30);
  type(state, "?");
  EXPECT_TRUE(state.help());
  type(state, "p");
  EXPECT_FALSE(state.help());
  EXPECT_FALSE(state.paused());
}

TEST(LiveState, AChoiceRemembersWhenItWasMade) {
  State state = state_of(10, 5);
  type(state, "i", 12.5);
  EXPECT_EQ(state.choice().of, Of::iat);
  EXPECT_EQ(state.chosen_s(), 12.5);
  type(state, "i", 20);  // nothing changes: the statistics go on
  EXPECT_EQ(state.chosen_s(), 12.5);
}

TEST(LiveState, MomentsAndPercentilesOfTheRateBecomeThoseOfTheGap) {
  State state = state_of(10, 5);
  type(state, "e");
  EXPECT_EQ(state.choice(), (Choice{Level::flow, false, Of::gap, What::percentiles}));
  type(state, "t");
  EXPECT_EQ(state.choice(), (Choice{Level::flow, false, Of::rate, What::mean}));
}

TEST(LiveState, ASumOfGapsIsRefusedWithAReason) {
  State state = state_of(10, 5);
  type(state, "gc");
  EXPECT_NE(state.choice().what, What::cumulated);
  EXPECT_THAT(state.message(), HasSubstr("gaps have no sum"));
}

TEST(LiveState, WhilePausedNothingElseIsComputed) {
  State state = state_of(10, 5);
  const Choice before = state.choice();
  type(state, "pi");
  EXPECT_EQ(state.choice(), before);
  EXPECT_THAT(state.message(), HasSubstr("paused"));
  type(state, "pi");
  EXPECT_EQ(state.choice().of, Of::iat);
}

TEST(LiveState, AfterTheEndNothingElseIsComputed) {
  State state = state_of(10, 5);
  state.end();
  type(state, "i");
  EXPECT_EQ(state.choice().of, Of::rate);
  EXPECT_THAT(state.message(), HasSubstr("ended"));
}

TEST(LiveState, ARunWithoutFlowsStaysAtPacketLevel) {
  State state(/*own_columns=*/false, /*packets_only=*/true);
  type(state, "d");
  EXPECT_EQ(state.choice().level, Level::packet);
  EXPECT_THAT(state.message(), HasSubstr("packet level"));
}

TEST(LiveState, TheColumnsAskedForAtTheStartCanBeHadAgain) {
  State state(/*own_columns=*/true, /*packets_only=*/false);
  EXPECT_TRUE(state.choice().own);
  type(state, "g");
  EXPECT_FALSE(state.choice().own);
  type(state, "u");
  EXPECT_TRUE(state.choice().own);
}

TEST(LiveState, SortingByAColumnThatIsGoneFallsBackToTheRate) {
  State state = state_of(10, 5, kFixedColumns + 3);
  for (int i = 0; i < 5; ++i) state.press({Key::right}, 0);
  EXPECT_EQ(state.arrangement().sort, kFixedColumns + 2);
  state.fit(10, 5, kFixedColumns + 1);
  EXPECT_EQ(state.arrangement().sort, kBps);
}

TEST(LiveState, AfterTheEndRowsMayStillBeOthers) {
  State state = state_of(10, 5);
  state.end();
  type(state, "f");
  EXPECT_EQ(state.arrangement().by, find_grouping("host"));
  EXPECT_THAT(state.message(), IsEmpty());
}

TEST(LiveState, EnterOpensWhatThePointerIsAtAndEscRestoresAll) {
  State state(false, false, false, {.first = find_grouping("host")});
  state.fit(100, 30, kFixedColumns);
  state.press({Key::enter}, 0);
  EXPECT_THAT(state.message(), HasSubstr("no row to open"));
  type(state, "/udp");
  state.press({Key::enter}, 0);
  state.press({Key::right}, 0);
  state.press({Key::page_down}, 0);
  state.press({Key::down}, 0);
  const Arrangement before = state.arrangement();
  const std::uint64_t cursor = state.cursor();
  const Opened host{.by = find_grouping("host"), .key = flow(1, 1).key, .text = "host 10.0.0.1"};
  state.point_at(host);
  state.press({Key::enter}, 0);
  EXPECT_EQ(state.arrangement().by, find_grouping("conversation"));
  EXPECT_THAT(state.arrangement().within, ::testing::ElementsAre(host));
  EXPECT_THAT(state.arrangement().filter, IsEmpty());
  EXPECT_EQ(state.arrangement().sort, kBps);
  EXPECT_EQ(state.arrangement().first, 0);
  type(state, "6/tcp");
  state.press({Key::enter}, 0);
  state.press({Key::escape}, 0);
  EXPECT_FALSE(state.arrangement().within.empty()) << "this one clears the filter";
  state.press({Key::escape}, 0);
  Arrangement restored = before;
  restored.window = 2;
  EXPECT_EQ(state.arrangement(), restored);
  EXPECT_EQ(state.cursor(), cursor);
}

TEST(LiveState, EscLeavesTheCountersFirst) {
  State state(false, false, true, {.first = find_grouping("host")});
  state.fit(10, 5, kFixedColumns);
  state.point_at(Opened{.by = find_grouping("host"), .key = flow(1, 1).key});
  state.press({Key::enter}, 0);
  for (const char* const key : {"d", "w"}) {
    type(state, key);
    EXPECT_FALSE(state.has_cursor());
    state.press({Key::escape}, 0);
    EXPECT_TRUE(state.has_cursor());
    EXPECT_EQ(state.arrangement().within.size(), 1);
  }
  state.press({Key::escape}, 0);
  EXPECT_TRUE(state.arrangement().within.empty());
}

TEST(LiveState, WithoutFlowsEscClearsTheFilter) {
  State state(false, /*packets_only=*/true);
  type(state, "/udp");
  state.press({Key::enter}, 0);
  state.press({Key::escape}, 0);
  EXPECT_THAT(state.arrangement().filter, IsEmpty());
  EXPECT_THAT(state.message(), IsEmpty());
}

TEST(LiveState, AfterTheEndTheCountersComeAndGo) {
  State state = state_of(10, 5);
  type(state, "d");
  state.end();
  type(state, "f");
  EXPECT_EQ(state.choice().level, Level::flow);
  type(state, "d");
  EXPECT_EQ(state.choice().level, Level::packet);
}

TEST(LiveState, AConversationOpensToFlowsUnlessTheRunKeepsOnlyGroups) {
  for (const bool has_flows : {false, true}) {
    State state(false, false, false, {.first = find_grouping("conversation"), .has_flows = has_flows});
    state.fit(10, 5, kFixedColumns);
    state.point_at(Opened{.by = find_grouping("conversation"), .key = flow(1, 1).key});
    state.press({Key::enter}, 0);
    EXPECT_EQ(state.arrangement().within.empty(), !has_flows);
    EXPECT_EQ(state.message().empty(), has_flows);
  }
}

TEST(LiveState, ItBeginsWithWhatIsGoingOnNow) {
  const State state = state_of(10, 5);
  EXPECT_EQ(state.arrangement().by, find_grouping("conversation"));
  EXPECT_TRUE(state.arrangement().hides_idle);
  EXPECT_EQ(state.arrangement().window_s(), 10);
}

TEST(LiveState, FGoesThroughTheGroupingsAndFlows) {
  State state(false, false, false, {.first = nullptr});
  const std::vector<const Grouping*> all = groupings_of({});
  EXPECT_EQ(state.arrangement().by, nullptr);
  for (const Grouping* const next : all) {
    type(state, "f");
    EXPECT_EQ(state.arrangement().by, next);
    EXPECT_TRUE(next->of_column.empty());
  }
  type(state, "f");
  EXPECT_EQ(state.arrangement().by, nullptr);
}

TEST(LiveState, GroupingsByAColumnNeedTheColumn) {
  const Schema schema = *Schema::make(std::vector<std::string>{"vlan_1"}, {});
  EXPECT_THAT(groupings_of(schema.columns()), ::testing::Contains(find_grouping("vlan")));
  EXPECT_THAT(groupings_of({}), ::testing::Not(::testing::Contains(find_grouping("vlan"))));
}

TEST(LiveState, WhereRowsNeedAColumnItIsKept) {
  State state(
      false, false, false,
      {.first = find_grouping("vlan"), .all = {find_grouping("host"), find_grouping("vlan")}, .has_flows = false});
  type(state, "i");
  EXPECT_EQ(state.arrangement().by, find_grouping("vlan"));
  EXPECT_THAT(state.message(), HasSubstr("--by"));
  type(state, "f");
  EXPECT_EQ(state.arrangement().by, find_grouping("host"));
  type(state, "f");
  EXPECT_EQ(state.arrangement().by, find_grouping("vlan"));
}

TEST(LiveState, ColumnsThatGroupsLackAreNotSortedBy) {
  State state(false, false, false, {.first = find_grouping("host")});
  state.fit(10, 5, kFixedColumns);
  std::vector<std::size_t> seen;
  for (int i = 0; i < 6; ++i) {
    state.press({Key::right}, 0);
    seen.push_back(state.arrangement().sort);
  }
  EXPECT_THAT(seen, ::testing::ElementsAre(kPackets, kBytes, kSource, kPps, kBps, kPackets));
  state.press({Key::left}, 0);
  EXPECT_EQ(state.arrangement().sort, kBps);
}

TEST(LiveState, AStatisticIsOfFlows) {
  State state = state_of(10, 5);
  type(state, "g");
  EXPECT_EQ(state.arrangement().by, nullptr);
}

TEST(LiveState, FlowsWithoutWholeKeysHaveNoGroups) {
  State state(false, false, false, {.all = {}});
  EXPECT_EQ(state.arrangement().by, nullptr);
  type(state, "f");
  EXPECT_EQ(state.arrangement().by, nullptr);
  EXPECT_THAT(state.message(), HasSubstr("lack parts of their key"));
}

TEST(LiveState, RatesOrTotalsOverATimeThatADigitChooses) {
  State state = state_of(10, 5);
  type(state, "o");
  EXPECT_EQ(state.arrangement().sort, kBytes);
  type(state, "o");
  EXPECT_EQ(state.arrangement().sort, kBps);
  for (const auto& [key, seconds] : {std::pair{"2", 2}, {"6", 60}, {"1", 10}}) {
    type(state, key);
    EXPECT_EQ(state.arrangement().window_s(), seconds);
  }
  type(state, "z");
  EXPECT_FALSE(state.arrangement().hides_idle);
}

TEST(LiveChoice, EveryNameItGivesIsOneThatTheSchemaKnows) {
  for (int of = 0; of < 4; ++of) {
    for (int what = 0; what < 6; ++what) {
      const auto names = column_names(static_cast<Of>(of), static_cast<What>(what));
      if (!names) continue;
      const auto schema = Schema::make(*names, {});
      ASSERT_TRUE(schema.has_value()) << schema.error().message;
      EXPECT_EQ(schema->asked().size(), names->size());
      EXPECT_FALSE(schema->needs_interval());
    }
  }
}

}  // namespace
}  // namespace parshall::live
