// SPDX-License-Identifier: Apache-2.0
#include "app/live/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "reports.hpp"

namespace parshall::live {
namespace {

using ::testing::ElementsAre;

void nothing() {}
bool never() { return false; }

View arranged(const Table& table, const Arrangement& arrangement = {}) {
  return *table.rows().arrange(arrangement, {}, never);
}

std::vector<std::uint64_t> packets(const View& view) {
  std::vector<std::uint64_t> all;
  for (const Row& row : view.rows) all.push_back(row.packets);
  return all;
}

Table table_of(const MadeReport& made) {
  Table table;
  table.load(made.report(1, 1), nothing);
  table.commit();
  return table;
}

TEST(LiveTable, NumbersFallAndReversedTheyRise) {
  const Table table = table_of({.flows = {flow(1, 5), flow(2, 9), flow(3, 7)}, .columns = {}, .values = {}});
  EXPECT_THAT(packets(arranged(table)), ElementsAre(9, 7, 5));
  EXPECT_THAT(packets(arranged(table, {.reversed = true, .filter = {}})), ElementsAre(5, 7, 9));
}

TEST(LiveTable, AddressesRiseByTheirNumbersAndIpv4ComesFirst) {
  FlowRecord six = flow(0, 1);
  six.key.ip_version = 6;
  six.key.address = {};
  FlowRecord seven = six;
  seven.key.address[15] = 1;
  seven.packets = 2;
  const Table table =
      table_of({.flows = {seven, six, flow(9, 3), flow(255, 4), flow(10, 5)}, .columns = {}, .values = {}});
  EXPECT_THAT(packets(arranged(table, {.sort = kSource, .filter = {}})), ElementsAre(3, 5, 4, 1, 2));
  EXPECT_THAT(packets(arranged(table, {.sort = kSource, .reversed = true, .filter = {}})), ElementsAre(2, 1, 4, 5, 3));
}

TEST(LiveTable, AFlowWithoutTheValueComesLastInBothOrders) {
  Table table;
  const Schema columns = schema_of({"gap_mean"});
  const FlowRecord one = flow(1, 1), two = flow(2, 2), three = flow(3, 3);
  const MadeReport made{.flows = {one, two, three}, .columns = columns, .values = {}};
  Report report = made.report(1, 1);
  const Value values[] = {Value::of_real(4), {}, Value::of_real(8)};
  report.flows = [&](const auto& visit) {
    for (std::size_t i = 0; i < 3; ++i) visit({made.flows[i], values_of(made.flows[i], {&values[i], 1})});
  };
  table.load(report, nothing);
  table.commit();
  EXPECT_THAT(packets(arranged(table, {.sort = kFixedColumns, .filter = {}})), ElementsAre(3, 1, 2));
  EXPECT_THAT(packets(arranged(table, {.sort = kFixedColumns, .reversed = true, .filter = {}})), ElementsAre(1, 3, 2));
}

TEST(LiveTable, AFilterLeavesTheRowsThatItIsTrueOf) {
  const Table table = table_of({.flows = {flow(1, 1), flow(2, 2, 17), flow(12, 3, 17)}, .columns = {}, .values = {}});
  EXPECT_THAT(packets(arranged(table, {.filter = "UDP"})), ElementsAre(3, 2));
  EXPECT_THAT(packets(arranged(table, {.filter = "10.0.0.1"})), ElementsAre(1));
  EXPECT_THAT(packets(arranged(table, {.filter = "packets >= 2 and not host 10.0.0.2"})), ElementsAre(3));
  EXPECT_EQ(arranged(table, {.filter = "sctp"}).matched, 0);
}

TEST(LiveTable, AWrongFilterIsNamedAndLetsAllRowsPass) {
  const Table table = table_of({.flows = {flow(1, 1), flow(2, 2)}, .columns = {}, .values = {}});
  const View view = arranged(table, {.filter = "packet > 1"});
  EXPECT_THAT(view.filter_problem, ::testing::HasSubstr("did you mean packets?"));
  EXPECT_EQ(view.matched, 2);
}

/// Loads reports one second apart.
void load_each_second(Table& table, const std::vector<std::vector<FlowRecord>>& seconds) {
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const MadeReport made{.flows = seconds[i], .columns = {}, .values = {}};
    Report report = made.report(i + 1, static_cast<double>(i + 1));
    report.summary.elapsed_s = static_cast<double>(i + 1);
    table.load(report, nothing);
    table.commit();
  }
}

TEST(LiveTable, AMeanRateRisesAndFallsWithItsTime) {
  Table table;
  load_each_second(table, {{flow(1, 100), flow(2, 100)}, {flow(1, 200), flow(2, 100)}, {flow(1, 300), flow(2, 1100)}});
  for (std::size_t window = 0; window < kWindowsS.size(); ++window) {
    const View view = arranged(table, {.sort = kPps, .window = window});
    const double share = 1 / kWindowsS[window], weight = (1 - std::exp(-share)) / (1 - std::exp(-2 * share));
    EXPECT_NEAR(view.rows[0].values[0], 1000 * weight, 1e-3);  // 0, then 1000
    EXPECT_NEAR(view.rows[1].values[0], 100, 1e-3);            // 100 packets a second since it is known
  }
}

TEST(LiveTable, TheFirstIntervalCountsInFullForNewFlowsToo) {
  Table table;
  load_each_second(table, {{flow(1, 1)}, {flow(1, 1), flow(2, 100)}});
  EXPECT_NEAR(arranged(table, {.sort = kPps, .filter = {}}).rows[0].values[0], 100, 1e-3);
}

TEST(LiveTable, RowsWithoutAPacketOfLateAreLeftOutAndCounted) {
  FlowRecord old = flow(1, 100), recent = flow(2, 100);
  old.last_ns = 1'000'000'000;
  recent.last_ns = 9'000'000'000;
  Table table;
  table.load(MadeReport{.flows = {old, recent}, .columns = {}, .values = {}}.report(1, 10), nothing);
  table.commit();
  View view = arranged(table, {.filter = {}, .window = 0, .hides_idle = true});
  EXPECT_EQ(view.matched, 1);
  EXPECT_EQ(view.idle, 1);
  EXPECT_EQ(arranged(table, {.filter = {}, .window = 1, .hides_idle = true}).matched, 2);
  EXPECT_EQ(arranged(table, {.filter = {}, .window = 0}).matched, 2);
  table.load(MadeReport{.flows = {old, recent}, .columns = {}, .values = {}}.report(2, 10, /*final=*/true), nothing);
  table.commit();
  EXPECT_EQ(arranged(table, {.filter = {}, .window = 0, .hides_idle = true}).matched, 2);
}

TEST(LiveTable, WhileNoPacketComesRowsBecomeIdleByTheClock) {
  FlowRecord only = flow(1, 100);
  only.last_ns = 10'000'000'000;
  const MadeReport made{.flows = {only}, .columns = {}, .values = {}};
  Table table;
  for (const double elapsed_s : {1, 5}) {
    Report report = made.report(static_cast<std::uint64_t>(elapsed_s), 10);
    report.summary.elapsed_s = elapsed_s;
    table.load(report, nothing);
    table.commit();
    EXPECT_EQ(arranged(table, {.filter = {}, .window = 0, .hides_idle = true}).idle, elapsed_s > 3) << elapsed_s;
  }
}

TEST(LiveTable, RatesAreDifferencesOverPacketTime) {
  Table table = table_of({.flows = {flow(1, 100), flow(2, 10)}, .columns = {}, .values = {}});
  EXPECT_TRUE(std::isnan(arranged(table).rows[0].values[0]));
  EXPECT_FALSE(arranged(table).pps.has_value());
  table.load(MadeReport{.flows = {flow(3, 6), flow(2, 10), flow(1, 300)}, .columns = {}, .values = {}}.report(2, 3),
             nothing);
  table.commit();
  const View view = arranged(table, {.sort = kPps, .filter = {}});
  ASSERT_THAT(packets(view), ElementsAre(300, 6, 10));
  EXPECT_EQ(view.rows[0].values[0], 100);  // 200 packets in 2 s
  EXPECT_EQ(view.rows[0].values[1], 8 * 60 * 100);
  EXPECT_EQ(view.rows[1].values[0], 3);  // new: all its packets
  EXPECT_EQ(view.rows[2].values[0], 0);
  EXPECT_EQ(*view.pps, (316.0 - 110) / 2);
}

TEST(LiveTable, ARecordThatBeganAnewIsNotSubtractedFrom) {
  Table table = table_of({.flows = {flow(1, 100)}, .columns = {}, .values = {}});
  FlowRecord anew = flow(1, 40);
  anew.first_ns = 2;
  table.load(MadeReport{.flows = {anew}, .columns = {}, .values = {}}.report(2, 2), nothing);
  table.commit();
  EXPECT_EQ(arranged(table).rows[0].values[0], 40);
}

TEST(LiveTable, WithoutPacketsTheRateIsZeroThoughPacketTimeStandsStill) {
  Table table = table_of({.flows = {flow(1, 100)}, .columns = {}, .values = {}});
  table.load(MadeReport{.flows = {flow(1, 100)}, .columns = {}, .values = {}}.report(2, 1), nothing);
  table.commit();
  EXPECT_EQ(arranged(table).pps, 0);
  EXPECT_EQ(arranged(table).rows[0].values[0], 0);
}

TEST(LiveTable, WithoutCommitTheReportBeforeStays) {
  Table table = table_of({.flows = {flow(1, 100)}, .columns = {}, .values = {}});
  table.load(MadeReport{.flows = {flow(1, 200)}, .columns = {}, .values = {}}.report(2, 2), nothing);
  EXPECT_THAT(packets(arranged(table)), ElementsAre(100));
  table.load(MadeReport{.flows = {flow(1, 300)}, .columns = {}, .values = {}}.report(3, 3), nothing);
  table.commit();
  EXPECT_EQ(arranged(table).rows[0].values[0], 100);
}

TEST(LiveTable, AWindowAnywhereAgreesWithAFullSort) {
  MadeReport made;
  std::mt19937 random(1);
  std::vector<std::uint64_t> expected;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    expected.push_back(random() % 5000);
    made.flows.push_back(flow(i, expected.back()));
  }
  const Table table = table_of(made);
  std::ranges::sort(expected, std::greater{});
  for (const std::uint64_t first : {0, 1, 511, 513, 7000, 19'990, 25'000}) {
    const View view = arranged(table, {.filter = {}, .first = first});
    EXPECT_EQ(view.matched, 20'000);
    EXPECT_LE(view.rows.size(), 3 * Rows::kMargin);
    EXPECT_GE(view.first + view.rows.size(), std::min<std::uint64_t>(first + Rows::kMargin, 20'000));
    for (std::size_t i = 0; i < view.rows.size(); ++i)
      ASSERT_EQ(view.rows[i].packets, expected[view.first + i]) << first << "+" << i;
  }
}

TEST(LiveTable, FlowsThatComeAndGoKeepTheirOwnRates) {
  std::mt19937 random(7);
  Table table;
  std::vector<std::uint64_t> before(3000, 0);
  std::vector<double> means(3000, 0);
  for (std::uint64_t number = 1; number < 6; ++number) {
    MadeReport made;
    std::vector<std::uint64_t> now(3000, 0);
    for (std::uint32_t i = 0; i < now.size(); ++i) {
      if (random() % 4 == 0) continue;
      now[i] = before[i] + 1 + random() % 100;
      made.flows.push_back(flow(i, now[i]));
    }
    if (number % 2 == 0) std::ranges::shuffle(made.flows, random);
    table.load(made.report(number, static_cast<double>(number)), nothing);
    table.commit();
    const double share = 1 / kWindowsS[kUsualWindow];
    const double weight = number == 1 ? 0 : std::expm1(-share) / std::expm1(-static_cast<double>(number - 1) * share);
    for (std::size_t i = 0; i < now.size(); ++i)
      means[i] = now[i] == 0 ? 0 : means[i] + weight * (static_cast<double>(now[i] - before[i]) - means[i]);
    if (number > 1)
      for (const Row& row : arranged(table).rows) {
        const auto i = static_cast<std::size_t>(row.key.address[2] << 8 | row.key.address[3]);
        ASSERT_NEAR(row.values[0], means[i], 1e-3);
      }
    before = now;
  }
}

TEST(LiveTable, AnAnswerNobodyWantsIsGivenUp) {
  const Table table = table_of({.flows = {flow(1, 1)}, .columns = {}, .values = {}});
  EXPECT_FALSE(table.rows().arrange({}, {}, [] { return true; }).has_value());
}

TEST(LiveTable, EndedRecordsAreNotInTheTable) {
  FlowRecord ended = flow(1, 5);
  ended.end_reason = EndReason::idle_timeout;
  EXPECT_EQ(arranged(table_of({.flows = {ended, flow(2, 3)}, .columns = {}, .values = {}})).matched, 1);
}

}  // namespace
}  // namespace parshall::live
