// SPDX-License-Identifier: Apache-2.0
#include "app/live/row_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "app/live/row_key.hpp"
#include "app/live/table.hpp"
#include "pipeline/flow/both_ways.hpp"
#include "reports.hpp"

namespace parshall::live {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

bool wanted_on() { return false; }

/// Reads one report of these flows each second.
Table table_of(const std::vector<std::vector<FlowRecord>>& seconds, const Schema& columns = {},
               const std::vector<Value>& values = {}) {
  Table table;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const MadeReport made{.flows = seconds[i], .columns = columns, .values = values};
    table.load(made.report(i + 1, static_cast<double>(i + 1)), [] {});
    table.commit();
  }
  return table;
}

std::map<std::string, std::uint64_t> packets_of(const View& view) {
  std::map<std::string, std::uint64_t> packets;
  for (const Row& row : view.rows) packets[group_text(row, view)] = row.packets;
  return packets;
}

const Grouping* by_name(std::string_view name) { return find_grouping(name); }

Opened row_of(const View& view, std::string_view text) {
  for (const Row& row : view.rows)
    if (group_text(row, view) == text) return *opened(row, view);
  throw std::runtime_error("no such row");
}

TEST(RowGroups, AGroupHasTheRatesOfItsFlowsThoughOthersEnd) {
  const Table flows = table_of({{flow(1, 100'000), flow(2, 10)}, {flow(1, 100'010)}});
  RowGroups groups({}, 1);
  const View view = *groups.arrange(flows.rows(), {.by = by_name("service")}, wanted_on);
  ASSERT_EQ(view.rows.size(), 1);
  EXPECT_EQ(view.rows[0].values[0], 10);  // the second flow ended: its packets are no difference of the group
}

TEST(RowGroups, EachTimeHasItsRates) {
  const Table flows = table_of({{flow(1, 100)}, {flow(1, 100)}, {flow(1, 1100)}});
  RowGroups groups({}, 1);
  float before = 1e9;
  for (std::size_t window = 0; window < kWindowsS.size(); ++window) {
    const View hosts = *groups.arrange(flows.rows(), {.by = by_name("host"), .window = window}, wanted_on);
    const View rows = *groups.arrange(flows.rows(), {.window = window}, wanted_on);
    EXPECT_EQ(hosts.rows[0].values[0], rows.rows[0].values[0]);
    EXPECT_LT(hosts.rows[0].values[0], before);
    before = hosts.rows[0].values[0];
  }
}

TEST(RowGroups, OpenedGroupsLeaveTheFlowsThatAreInAllOfThem) {
  const Table flows = table_of({{flow(1, 5), flow(2, 7), flow(1, 11, 17)}});
  RowGroups groups({}, 1);
  const View hosts = *groups.arrange(flows.rows(), {.by = by_name("host")}, wanted_on);
  EXPECT_THAT(packets_of(hosts),
              UnorderedElementsAre(Pair("192.0.2.1", 23), Pair("10.0.0.1", 16), Pair("10.0.0.2", 7)));
  std::vector<Opened> within{row_of(hosts, "10.0.0.1")};
  const View services = *groups.arrange(flows.rows(), {.by = by_name("service"), .within = within}, wanted_on);
  EXPECT_THAT(packets_of(services), UnorderedElementsAre(Pair("TCP https (443)", 5), Pair("UDP https (443)", 11)));
  within.push_back(row_of(services, "UDP https (443)"));
  const View peers = *groups.arrange(flows.rows(), {.by = by_name("host"), .within = within}, wanted_on);
  EXPECT_THAT(packets_of(peers), ElementsAre(Pair("192.0.2.1", 11)));
  EXPECT_EQ(groups.arrange(flows.rows(), {.by = nullptr, .within = within}, wanted_on)->matched, 1);
}

TEST(RowGroups, RowsFollowTheFlowsOnlyWhenToldThatTheyChanged) {
  Table flows = table_of({{flow(1, 5)}});
  RowGroups groups({}, 1);
  const Arrangement protocols{.by = by_name("protocol")};
  EXPECT_THAT(packets_of(*groups.arrange(flows.rows(), protocols, wanted_on)), ElementsAre(Pair("TCP", 5)));
  flows = table_of({{flow(1, 6)}});
  groups.forget();
  EXPECT_THAT(packets_of(*groups.arrange(flows.rows(), protocols, wanted_on)), ElementsAre(Pair("TCP", 6)));
}

TEST(RowGroups, ColumnsOfFlowsMakeGroupsThatOpen) {
  const Schema columns = schema_of({"gap_mean", "vlan"});
  const Table flows = table_of({{flow(1, 5), flow(2, 7)}}, columns, {Value::of_real(0.5), Value::of_unsigned(42)});
  RowGroups groups({}, 1);
  const View vlans = *groups.arrange(flows.rows(), {.by = by_name("vlan")}, wanted_on);
  EXPECT_THAT(packets_of(vlans), ElementsAre(Pair("42", 12)));
  EXPECT_EQ(groups.arrange(flows.rows(), {.by = by_name("vlan"), .filter = "vlan 42"}, wanted_on)->matched, 1);
  EXPECT_EQ(groups.arrange(flows.rows(), {.by = by_name("vlan"), .filter = "vlan > 42"}, wanted_on)->matched, 0);
  EXPECT_EQ(groups.arrange(flows.rows(), {.filter = "vlan 42 and packets > 5"}, wanted_on)->matched, 1);
  const std::vector<Opened> within{row_of(vlans, "42")};
  EXPECT_EQ(groups.arrange(flows.rows(), {.by = by_name("host"), .within = within}, wanted_on)->matched, 3);
  EXPECT_EQ(groups.arrange(flows.rows(), {.within = within}, wanted_on)->matched, 2);
  EXPECT_EQ(groups.arrange(table_of({{flow(1, 5)}}).rows(), {.within = within}, wanted_on)->matched, 0);
}

TEST(RowGroups, WithoutTheColumnThereAreNoRows) {
  RowGroups groups({}, 1);
  const View view = *groups.arrange(table_of({{flow(1, 5)}}).rows(), {.by = by_name("vlan")}, wanted_on);
  EXPECT_THAT(view.rows, IsEmpty());
}

TEST(RowGroups, DirectionsAreAcrossTheBorderOfTheNetworksInside) {
  const std::vector<std::string> networks{"10.0.0.0/24"};
  RowGroups groups(*Networks::parse(networks), 1);
  FlowRecord back = flow(1, 3), inside = flow(1, 2);
  std::swap_ranges(back.key.address.begin(), back.key.address.begin() + 4, back.key.address.begin() + 4);
  std::copy_n(std::array<std::uint8_t, 4>{10, 0, 0, 9}.begin(), 4, inside.key.address.begin() + 4);
  const Table flows = table_of({{flow(1, 5), back, inside, flow(256, 1)}});
  const View view = *groups.arrange(flows.rows(), {.by = by_name("direction")}, wanted_on);
  EXPECT_THAT(packets_of(view),
              UnorderedElementsAre(Pair("out", 5), Pair("in", 3), Pair("inside", 2), Pair("outside", 1)));
  EXPECT_THAT(
      packets_of(*groups.arrange(flows.rows(), {.by = by_name("host"), .within = {row_of(view, "in")}}, wanted_on)),
      UnorderedElementsAre(Pair("192.0.2.1", 3), Pair("10.0.0.1", 3)));
}

TEST(RowGroups, GroupsOfAValueAreSortedAndFilteredByIt) {
  const Table flows = table_of({{flow(1, 5), flow(2, 7, 17), flow(3, 9, 1)}});
  RowGroups groups({}, 1);
  const auto names = [&](const Arrangement& wanted) {
    std::vector<std::string> texts;
    const View view = *groups.arrange(flows.rows(), wanted, wanted_on);
    for (const Row& row : view.rows) texts.push_back(group_text(row, view));
    return texts;
  };
  const Grouping* const protocol = by_name("protocol");
  EXPECT_THAT(names({.by = protocol, .sort = kSource}), ElementsAre("ICMP", "TCP", "UDP"));
  EXPECT_THAT(names({.by = protocol, .sort = kSource, .reversed = true}), ElementsAre("UDP", "TCP", "ICMP"));
  EXPECT_THAT(names({.by = protocol, .filter = "udp or proto icmp"}), ElementsAre("ICMP", "UDP"));
}

TEST(RowGroups, AnotherOrderDoesNotStopTheAddingUp) {
  const Table flows = table_of({{flow(1, 5)}});
  RowGroups groups({}, 1);
  const auto yes = [] { return true; };
  EXPECT_FALSE(groups.arrange(flows.rows(), {.by = by_name("host")}, yes, wanted_on).has_value());
  EXPECT_EQ(groups.arrange(flows.rows(), {.by = by_name("host")}, wanted_on, yes)->matched, 2) << "it is known already";
}

TEST(RowGroups, AfterFlowsWithoutACapacityItHasRoomAgain) {
  RowGroups groups({}, 1);
  EXPECT_EQ(groups.arrange(Rows(), {.by = by_name("host")}, wanted_on)->matched, 0);
  groups.forget();
  EXPECT_EQ(groups.arrange(table_of({{flow(1, 5), flow(2, 5)}}).rows(), {.by = by_name("host")}, wanted_on)->matched,
            3);
}

TEST(RowGroups, WhatNobodyWantsIsGivenUpAndDoneWhenItIsWantedAgain) {
  const Table flows = table_of({{flow(1, 5)}});
  RowGroups groups({}, 1);
  EXPECT_FALSE(groups.arrange(flows.rows(), {.by = by_name("host")}, [] { return true; }).has_value());
  EXPECT_EQ(groups.arrange(flows.rows(), {.by = by_name("host")}, wanted_on)->matched, 2);
}

/// A report of these flows, of which some have a server name.
View view_by_name(const std::vector<std::pair<FlowRecord, const char*>>& named, const Arrangement& wanted,
                  RowGroups& groups, Table& table) {
  const Schema columns = schema_of({"server_name"});
  Report report = MadeReport{.flows = {}, .columns = columns, .values = {}}.report(1, 1);
  report.columns = columns.columns();
  report.flows = [&](const std::function<void(const ReportFlow&)>& visit) {
    for (const auto& [record, name] : named) {
      const std::string kept = name == nullptr ? "" : name;
      const std::vector<Value> values =
          values_of(record, std::vector{name == nullptr ? Value() : Value::of_text(kept)});
      visit({record, values});
    }
  };
  table.load(report, [] {});
  table.commit();
  return *groups.arrange(table.rows(), wanted, wanted_on);
}

FlowRecord back(std::uint32_t number, std::uint64_t packets) {
  FlowRecord record = flow(number, packets);
  record.key = opposite(record.key);
  return record;
}

TEST(RowGroups, BothDirectionsOfAConnectionHaveTheNameThatOneHas) {
  const std::vector<std::pair<FlowRecord, const char*>> flows{
      {back(1, 100), nullptr}, {flow(1, 10), "b.example"}, {flow(2, 20), "a.example"},
      {back(2, 200), nullptr}, {flow(3, 30), "b.example"}, {flow(4, 40), nullptr},
  };
  RowGroups groups({}, 1);
  Table table;
  const View names = view_by_name(flows, {.by = by_name("server_name")}, groups, table);
  EXPECT_THAT(packets_of(names),
              UnorderedElementsAre(Pair("a.example", 220), Pair("b.example", 140), Pair("(none)", 40)));
  const std::vector<Opened> within{row_of(names, "b.example")};
  const View opened_rows = *groups.arrange(table.rows(), {.within = within}, wanted_on);
  EXPECT_EQ(opened_rows.matched, 3);
  EXPECT_THAT(opened_rows.columns.back().values, ElementsAre("b.example"));
  const View sorted = *groups.arrange(table.rows(), {.by = by_name("server_name"), .sort = kSource}, wanted_on);
  EXPECT_EQ(group_text(sorted.rows[1], sorted), "a.example");
  EXPECT_EQ(group_text(sorted.rows[2], sorted), "b.example");
  const auto matched = [&](const Grouping* by, const std::string& filter) {
    const View view = *groups.arrange(table.rows(), {.by = by, .filter = filter}, wanted_on);
    EXPECT_EQ(view.filter_problem, "") << filter;
    return view.matched;
  };
  EXPECT_EQ(matched(nullptr, "server_name B.EX"), 3);
  EXPECT_EQ(matched(nullptr, "server_name = b.ex"), 0);
  EXPECT_EQ(matched(nullptr, "server_name = a.example and packets > 100"), 1);
  EXPECT_EQ(matched(nullptr, "server_name != a.example"), 3);
  EXPECT_EQ(matched(by_name("server_name"), "server_name example"), 2);
  EXPECT_EQ(matched(by_name("server_name"), "server_name = a.example"), 1);
}

}  // namespace
}  // namespace parshall::live
