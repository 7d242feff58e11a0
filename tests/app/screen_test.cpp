// SPDX-License-Identifier: Apache-2.0
#include "app/live/screen.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/live/row_groups.hpp"
#include "app/live/row_key.hpp"
#include "app/live/table.hpp"
#include "pipeline/output/text/summary_text.hpp"
#include "reports.hpp"

namespace parshall::live {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

View view_of(std::uint32_t flows, const Arrangement& arrangement = {}) {
  MadeReport made{
      .flows = {}, .columns = schema_of({"gap_p50", "iat_p99"}), .values = {Value::of_real(12), Value::of_real(2556)}};
  for (std::uint32_t i = 0; i < flows; ++i) made.flows.push_back(flow(i, 1'000'000 + i, i % 2 != 0 ? 6 : 17));
  Table table;
  table.load(made.report(1, 1), [] {});
  table.commit();
  return *table.rows().arrange(arrangement, {}, [] { return false; });
}

std::vector<std::string> text_of(const std::vector<Line>& lines) {
  std::vector<std::string> all;
  for (const Line& line : lines) {
    std::string text;
    for (const Piece& piece : line) text += piece.text;
    all.push_back(text);
  }
  return all;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const auto& line : lines) all += line + "\n";
  return all;
}

State state_for(const View& view, Size size) {
  State state(false, false, false, {.first = nullptr});
  state.fit(view.matched, lay_out(size, &view).rows, kFixedColumns + view.columns.size());
  return state;
}

TEST(LiveScreen, FitsEverySizeWithTheAccountingInSight) {
  const View view = view_of(300);
  Pulse pulse{.elapsed_s = 12, .polled_pps = std::vector<double>(600, 1e6)};
  for (const Glyphs glyphs : {Glyphs::ascii, Glyphs::unicode}) {
    for (std::size_t columns = 1; columns < 220; columns += columns < 30 ? 1 : 13) {
      for (std::size_t lines = 1; lines < 60; lines += lines < 30 ? 1 : 7) {
        const Size size{columns, lines};
        const auto screen = text_of(draw(state_for(view, size), &view, pulse, size, glyphs));
        ASSERT_LE(screen.size(), lines);
        for (const auto& line : screen) ASSERT_LE(width_of(line), columns) << columns << "x" << lines << ": " << line;
        if (columns >= 20 && lines >= 2) {
          ASSERT_THAT(joined(screen), HasSubstr("counted")) << columns << "x" << lines;
        }
        if (columns >= 20 && lines >= 5) {
          ASSERT_THAT(joined(screen), HasSubstr("rate")) << columns << "x" << lines;
          ASSERT_THAT(joined(screen), HasSubstr("10.0")) << columns << "x" << lines;
        }
      }
    }
  }
}

TEST(LiveScreen, TheLatestEventsStandBelowTheFlowsWhereThereIsRoom) {
  const View view = view_of(300);
  Pulse pulse{.elapsed_s = 12, .polled_pps = std::vector<double>(600, 1e6)};
  for (int i = 0; i < 16; ++i) pulse.events.push_back("event number " + std::to_string(i));
  for (std::size_t columns = 20; columns < 220; columns += 20)
    for (std::size_t lines = 1; lines < 60; ++lines) {
      const Size size{columns, lines};
      State state = state_for(view, size);
      const std::string with = joined(text_of(draw(state, &view, pulse, size, Glyphs::ascii)));
      ASSERT_LE(std::ranges::count(with, '\n'), static_cast<std::ptrdiff_t>(lines));
      if (lines >= 2) {
        ASSERT_THAT(with, HasSubstr("counted")) << columns << "x" << lines;
      }
      if (lines >= 24) {
        ASSERT_THAT(with, HasSubstr("event number 15")) << columns << "x" << lines;
        ASSERT_THAT(with, ::testing::Not(HasSubstr("event number 0"))) << columns << "x" << lines;
      }
      const std::size_t rows = lay_out(size, &view, pulse.events.size()).rows;
      if (lines >= 24) {
        ASSERT_GE(rows, lines / 4) << columns << "x" << lines;
      }
      state.press({Key::text, 'v'}, 0);
      ASSERT_THAT(joined(text_of(draw(state, &view, pulse, size, Glyphs::ascii))),
                  ::testing::Not(HasSubstr("event number")));
    }
}

TEST(LiveScreen, BeforeAnythingCameItSaysSo) {
  const State state(false, false);
  EXPECT_THAT(joined(text_of(draw(state, nullptr, {}, {80, 24}, Glyphs::ascii))),
              HasSubstr("no packet has arrived yet"));
}

TEST(LiveScreen, TheFullAccountingLineIsShownWhereItFits) {
  const View view = view_of(3);
  EXPECT_THAT(joined(text_of(draw(state_for(view, {80, 24}), &view, {}, {80, 24}, Glyphs::ascii))),
              HasSubstr(accounting_line(view.summary.total)));
}

TEST(LiveScreen, AnAccountingThatDoesNotBalanceSaysSoFirst) {
  View view = view_of(3);
  view.summary.total.add(Counter::polled, 1);
  for (const Size size : {Size{20, 5}, Size{100, 30}})
    EXPECT_THAT(fit_accounting(view.summary.total, size, Glyphs::ascii)[0], ::testing::StartsWith("DOES NOT BALANCE"));
}

TEST(LiveScreen, TheColumnSortedByIsShownHoweverNarrow) {
  const Size size{50, 20};
  for (const auto& [sort, heading] : {std::pair{kBytes, "bytesv"}, {kBps, "bit/sv"}, {kSource, "source^"}}) {
    const View view = view_of(3, {.sort = sort, .filter = {}});
    EXPECT_THAT(joined(text_of(draw(state_for(view, size), &view, {}, size, Glyphs::ascii))), HasSubstr(heading));
  }
}

/// Draws the groups of some flows, after a second in which each flow had as many packets again.
std::string groups_on_screen(std::string_view by, Arrangement arrangement = {.sort = kBps},
                             const std::vector<KeyPress>& presses = {}) {
  constexpr Size kSize{120, 24};
  Table flows;
  for (const std::uint64_t second : {1, 2}) {
    const MadeReport made{.flows = {flow(1, 100 * second), flow(2, 10 * second, 17)}, .columns = {}, .values = {}};
    flows.load(made.report(second, static_cast<double>(second)), [] {});
    flows.commit();
  }
  RowGroups groups({}, 1);
  State state(false, false, false, {.first = find_grouping(by)});
  arrangement.by = find_grouping(by);
  View view = *groups.arrange(flows.rows(), arrangement, [] { return false; });
  for (const KeyPress press : presses) {
    state.fit(view.matched, 10, kFixedColumns + view.columns.size());
    state.point_at(opened(view.rows.at(state.cursor()), view));
    state.press(press, 0);
    view = *groups.arrange(flows.rows(), state.arrangement(), [] { return false; });
  }
  return joined(text_of(draw(state, &view, {}, kSize, Glyphs::ascii)));
}

TEST(LiveScreen, AHostHasRatesInAndOutInOneRow) {
  const std::string screen = groups_on_screen("host");
  EXPECT_THAT(screen, HasSubstr("hosts (f: other rows)"));
  EXPECT_THAT(screen, ContainsRegex("host +pps +bit/sv +packets +bytes +in_bps +out_bps +peers +flows"));
  EXPECT_THAT(screen, ContainsRegex("192.0.2.1 +110 +52.8 k +220 +13.2 k +52.8 k +0 +2 +2 *\n"));
  EXPECT_THAT(screen, ContainsRegex("10.0.0.1 +100 +48.0 k +200 +12.0 k +0 +48.0 k +1 +1\n"));
}

TEST(LiveScreen, OtherGroupsAreNamedByTheirKeys) {
  EXPECT_THAT(groups_on_screen("service"),
              ContainsRegex("proto +service .*\nTCP +https \\(443\\) +100 .*\nUDP +https \\(443\\) +10 "));
  EXPECT_THAT(groups_on_screen("prefix"), ContainsRegex("\n10.0.0.0/24 +110 .*\n192.0.2.0/24 +110 "));
  EXPECT_THAT(groups_on_screen("conversation"),
              ContainsRegex("proto +client +server .*\nTCP +10.0.0.1:4096 +192.0.2.1:443 +100 "));
}

TEST(LiveScreen, EnterOpensARowAndEscGoesBack) {
  const KeyPress enter{.key = Key::enter}, down{.key = Key::down}, escape{.key = Key::escape};
  const std::string host = groups_on_screen("host", {.sort = kBps}, {enter});
  EXPECT_THAT(host, HasSubstr("host 192.0.2.1 (Esc: back): conversations"));
  EXPECT_THAT(host, ContainsRegex("10.0.0.1:4096 +192.0.2.1:443(.*\n)+.*10.0.0.2:4096 +192.0.2.1:443"));
  const std::string other = groups_on_screen("host", {.sort = kBps}, {down, enter});
  EXPECT_THAT(other, HasSubstr("host 10.0.0.1 (Esc: back): conversations"));
  EXPECT_THAT(other, Not(HasSubstr("10.0.0.2:4096")));
  const std::string flows = groups_on_screen("host", {.sort = kBps}, {down, enter, enter});
  EXPECT_THAT(flows, HasSubstr("host 10.0.0.1 > conversation TCP 10.0.0.1:4096 192.0.2.1:443 (Esc: back): flows, "));
  const std::string peers = groups_on_screen("service", {.sort = kBps}, {enter});
  EXPECT_THAT(peers, HasSubstr("service TCP https (443) (Esc: back): hosts"));
  EXPECT_THAT(peers, Not(HasSubstr("10.0.0.2")));
  EXPECT_THAT(groups_on_screen("host", {.sort = kBps}, {down, enter, enter, escape, escape}),
              ContainsRegex("192.0.2.1 +110 .*\n10.0.0.1 +100 .*\n10.0.0.2 +10 "));
}

TEST(LiveScreen, PeersOfAHostAreWithoutItself) {
  const KeyPress enter{.key = Key::enter}, down{.key = Key::down}, rows{.key = Key::text, .character = 'f'};
  const std::string peers = groups_on_screen("host", {.sort = kBps}, {down, enter, rows});  // conversations, then hosts
  EXPECT_THAT(peers, HasSubstr("host 10.0.0.1 (Esc: back): hosts"));
  EXPECT_THAT(peers, ContainsRegex("\n192.0.2.1 +100 "));
  EXPECT_THAT(peers, Not(ContainsRegex("\n10.0.0.")));
}

TEST(LiveScreen, CountsThatLackLostPacketsSaySo) {
  View view = view_of(3, {.sort = kBytes});
  view.summary.total.add(Counter::ring_full, 1);
  EXPECT_THAT(joined(text_of(draw(state_for(view, {80, 20}), &view, {}, {80, 20}, Glyphs::ascii))),
              ContainsRegex(">=packets .*>=bytes"));
}

TEST(LiveScreen, AFilterNamesWhatGroupsLack) {
  const auto filtered = [](std::string_view by, const char* filter) {
    return groups_on_screen(by, {.sort = kBps, .filter = filter});
  };
  EXPECT_THAT(filtered("host", "port 443"), HasSubstr("filter: hosts have no port"));
  EXPECT_THAT(filtered("host", "tcp"), HasSubstr("filter: hosts have no protocol"));
  EXPECT_THAT(filtered("service", "host 10.0.0.1"), HasSubstr("filter: services have no address"));
  EXPECT_THAT(filtered("host", "host 0.0.0.0"), HasSubstr("filter \"host 0.0.0.0\": 0"));
  EXPECT_THAT(filtered("service", "udp port 443"), HasSubstr("filter \"udp port 443\": 1"));
  EXPECT_THAT(filtered("host", "bit/s > 50k"), HasSubstr("filter \"bit/s > 50k\": 1"));
}

TEST(LiveScreen, TimesCarryTheirUnitAndAbsentValuesAreDashes) {
  View view = view_of(1);
  const Size size{120, 24};
  const std::string screen = joined(text_of(draw(state_for(view, size), &view, {}, size, Glyphs::ascii)));
  EXPECT_THAT(screen, HasSubstr("2.56 us"));
  EXPECT_THAT(screen, HasSubstr("iat_p99"));
  EXPECT_THAT(screen, Not(HasSubstr("iat_p99_ns")));
  EXPECT_THAT(screen, HasSubstr(" - "));  // no interval yet
}

TEST(LiveScreen, ClassesStandWithTheirSharesTheLargestFirstAsManyAsFit) {
  View view = view_of(3);
  view.summary.total.set(Counter::counted, 1000);
  const auto class_of = [](const char* name, std::uint64_t flows, std::uint64_t packets) {
    ClassSummary summary{.name = name, .counts = {}};
    summary.counts.set(ClassCounter::flows, flows);
    summary.counts.set(ClassCounter::packets, packets);
    return summary;
  };
  view.summary.classes = {class_of("mail", 1, 100), class_of("none", 0, 0), class_of("web", 2, 650),
                          class_of("unknown", 1, 250)};
  const auto shown = [&](Size size) {
    return joined(text_of(draw(state_for(view, size), &view, {}, size, Glyphs::ascii)));
  };
  EXPECT_THAT(shown({100, 30}), HasSubstr("classes  web 65 %  unknown 25 %  mail 10 %"));
  EXPECT_THAT(shown({100, 30}), Not(HasSubstr("none")));
  EXPECT_THAT(shown({36, 30}), HasSubstr("classes  web 65 %  unknown 25 %"));
  EXPECT_THAT(shown({36, 30}), Not(HasSubstr("mail")));
  view.summary.classes.clear();
  EXPECT_THAT(shown({100, 30}), Not(HasSubstr("classes")));
}

TEST(LiveScreen, OfAWireItSaysWhatWentOnAndWhatDidNot) {
  View view = view_of(3);
  const auto shown = [&] {
    const Size size{100, 30};
    return joined(text_of(draw(state_for(view, size), &view, {}, size, Glyphs::ascii)));
  };
  EXPECT_THAT(shown(), Not(HasSubstr("forwarded")));
  view.summary.forwarding = {
      .offered = 107, .sent = 100, .too_long = 3, .refused = 4, .marks = {{"web", 18, 50}, {"mail", 8, 9}}};
  EXPECT_THAT(shown(), HasSubstr("forwarded 100  59 marked  7 not sent"));
}

TEST(LiveScreen, AsciiHoldsNothingElse) {
  View view = view_of(40);
  view.summary.source = "caf\xC3\xA9\x1B[2J.pcap";
  const Size size{60, 24};
  for (const auto& line :
       text_of(draw(state_for(view, size), &view, {.elapsed_s = 1, .polled_pps = {1, 2, 3}}, size, Glyphs::ascii)))
    for (const char c : line) ASSERT_TRUE(c >= 0x20 && c < 0x7F) << line;
}

TEST(LiveText, WrapBreaksAtSpacesAndCutsWhatIsTooMuch) {
  EXPECT_THAT(wrap("one two three", 7, 3, Glyphs::ascii), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("one two three", 7, 1, Glyphs::ascii), ElementsAre("one tw~"));
  EXPECT_THAT(wrap("abcdefghij", 4, 3, Glyphs::ascii), ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(wrap("", 4, 3, Glyphs::ascii), ElementsAre(""));
}

TEST(LiveText, NumbersOfFiveDigitsAreShortened) {
  EXPECT_EQ(shorten_numbers("12345678 offered = 9999 not_ip + 12335679 counted"),
            "12.3M offered = 9999 not_ip + 12.3M counted");
}

TEST(LiveText, TheSparklineIsAsHighAsTheLargest) {
  EXPECT_EQ(sparkline(std::vector<double>{0, 1, 8}, 5, Glyphs::unicode), " ▁█");
  EXPECT_EQ(sparkline(std::vector<double>{5, 0, 1e-9, 8}, 3, Glyphs::ascii), " .@");
  EXPECT_EQ(sparkline(std::vector<double>{0, 0}, 3, Glyphs::ascii), "  ");
}

TEST(LiveText, AddressesAreCutInTheMiddle) {
  EXPECT_EQ(cut_middle("192.168.100.200:65535", 12, Glyphs::ascii), "192.16~65535");
  EXPECT_EQ(cut_middle("10.0.0.1:80", 12, Glyphs::ascii), "10.0.0.1:80");
}

}  // namespace
}  // namespace parshall::live
