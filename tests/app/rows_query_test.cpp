// SPDX-License-Identifier: Apache-2.0
#include "app/web/rows_query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports.hpp"

namespace parshall::web {
namespace {

using ::testing::HasSubstr;

/// Reads a query for a run whose flows have these columns.
Result<live::Arrangement> parse(std::string_view query, std::vector<ColumnInfo> columns = {}) {
  live::Rows flows;
  flows.columns = std::move(columns);
  return parse_rows_query(query, {}, flows, live::RowGroups({}, 1));
}

std::string problem(std::string_view query) {
  const auto parsed = parse(query);
  return parsed ? "" : parsed.error().message;
}

TEST(RowsQuery, WithoutAWordItIsWhatALiveViewBeginsWith) {
  const auto wanted = parse("");
  EXPECT_EQ(*wanted, (live::Arrangement{.by = find_grouping("conversation"), .sort = live::kBps, .hides_idle = true}));
}

TEST(RowsQuery, SaysWhichRowsInWhichOrder) {
  const auto wanted = parse("by=host&filter=net+10.0.0.0%2F8+and%20pps>1&sort=peers&order=rising&idle=1&window=60");
  EXPECT_EQ(wanted->by, find_grouping("host"));
  EXPECT_EQ(wanted->filter, "net 10.0.0.0/8 and pps>1");
  EXPECT_EQ(wanted->sort, live::kFixedColumns + 2);  // after in_bps and out_bps
  EXPECT_TRUE(wanted->reversed);
  EXPECT_FALSE(wanted->hides_idle);
  EXPECT_EQ(wanted->window_s(), 60);
  EXPECT_EQ(parse("by=flow")->by, nullptr);
  EXPECT_EQ(parse("by=flow&sort=gap_mean", {{.name = "gap_mean"}})->sort, +live::kFixedColumns);
}

TEST(RowsQuery, TextFallsAndRisesLikeNumbers) {
  EXPECT_TRUE(parse("by=host&sort=host&order=falling")->reversed);
  EXPECT_FALSE(parse("by=host&sort=host&order=rising")->reversed);
  EXPECT_EQ(parse("by=service&sort=protocol")->sort, +live::kProtocol);
}

TEST(RowsQuery, OpenedRowsHaveNamesThatComeBack) {
  const FlowKey four = live::flow(1, 1).key;
  FlowKey six;
  six.ip_version = 6;
  for (std::size_t i = 0; i < six.address.size(); ++i) six.address[i] = static_cast<std::uint8_t>(7 * i);
  const Grouping &host = *find_grouping("host"), &service = *find_grouping("service");
  const auto wanted = parse("within=" + name_of(host, six) + "," + name_of(service, four));
  ASSERT_EQ(wanted->within.size(), 2);
  EXPECT_EQ(wanted->within[0], (live::Opened{.by = &host, .key = six}));
  EXPECT_EQ(wanted->within[1], (live::Opened{.by = &service, .key = four}));
}

TEST(RowsQuery, WhatItDoesNotKnowIsNamed) {
  EXPECT_THAT(problem("by=hosts"), HasSubstr("by=hosts"));
  EXPECT_THAT(problem("by=vlan"), HasSubstr("no such rows"));
  EXPECT_THAT(problem("sort=peers"), HasSubstr("no such column"));
  EXPECT_THAT(problem("order=down"), HasSubstr("falling or rising"));
  EXPECT_THAT(problem("window=11"), HasSubstr("window=11: 2, 10, 60 seconds"));
  EXPECT_THAT(problem("window=x"), HasSubstr("seconds"));
  EXPECT_THAT(problem("idle=yes"), HasSubstr("0 or 1"));
  EXPECT_THAT(problem("x=1"), HasSubstr("by, within, filter"));
  EXPECT_THAT(problem("filter=" + std::string(257, '(')), HasSubstr("longer than 256 bytes"));
  for (const char* const name : {"host", "host:0", "host:zz", "x:00", ":", "flow:00"})
    EXPECT_THAT(problem(std::string("within=") + name), HasSubstr("no names of opened rows")) << name;
  EXPECT_THAT(problem("within=host:" + std::string(82, '0')), HasSubstr("no names"));
}

TEST(RowsQuery, AnyBytesAreReadOrRefused) {
  for (unsigned first = 0; first < 256; ++first)
    for (const char* const rest : {"", "%", "%4", "%zz", "=", "&", "&&=", "by=host&"}) {
      const std::string query = std::string(1, static_cast<char>(first)) + rest;
      const bool says_nothing = query.find_first_not_of('&') == std::string::npos || query == "&by=host&";
      EXPECT_EQ(parse(query).has_value(), says_nothing) << query;
    }
}

}  // namespace
}  // namespace parshall::web
