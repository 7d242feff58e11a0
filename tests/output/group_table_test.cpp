// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/groups/group_table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "../address_space_limit.hpp"
#include "pipeline/flow/both_ways.hpp"

namespace parshall {
namespace {

/// A flow of TCP from 10.x.y.z, port 40000, to 192.0.2.1, port 443.
FlowRecord flow_from(std::uint32_t host, std::uint64_t packets) {
  FlowRecord record;
  record.key.ip_version = 4;
  record.key.protocol = 6;
  record.key.address = {10,
                        static_cast<std::uint8_t>(host >> 16),
                        static_cast<std::uint8_t>(host >> 8),
                        static_cast<std::uint8_t>(host),
                        192,
                        0,
                        2,
                        1};
  record.key.src_port_bytes = {0x9C, 0x40};
  record.key.dst_port_bytes = {0x01, 0xBB};
  record.packets = packets;
  record.wire_bytes = 60 * packets;
  record.first_ns = 1'000'000'000;
  record.last_ns = 3'000'000'000;
  return record;
}

GroupSchema schema_by(std::string_view by, const std::vector<std::string>& columns = {}, Networks local = {}) {
  return *GroupSchema::make(*find_grouping(by), std::move(local), Schema().columns(), columns);
}

std::uint64_t number(const Value& value) { return value.as_unsigned(); }

struct Sum {
  std::uint64_t rows = 0, named = 0, flows = 0, sent = 0, received = 0, with_peers = 0;
};

/// Adds up the rows of a table by host.
Sum sum_of(GroupTable& table) {
  Sum sum;
  table.visit([&](const ReportFlow& row) {  // columns: host, peers, flows, in_packets, out_packets
    ++sum.rows;
    sum.named += row.values[0].present();
    sum.with_peers += row.values[1].present();
    sum.flows += number(row.values[2]);
    sum.received += number(row.values[3]);
    sum.sent += number(row.values[4]);
  });
  return sum;
}
const std::vector<std::string> kColumns{"host", "peers", "flows", "in_packets", "out_packets"};

TEST(GroupTable, GrowsAndKeepsEveryHost) {
  const GroupSchema schema = schema_by("host", kColumns);
  GroupTable table(schema, 1 << 20, 1);
  constexpr std::uint32_t kHosts = 70'000;  // grows three times
  for (std::uint32_t host = 0; host < kHosts; ++host) table.add({flow_from(host, 1 + host % 3), {}});
  std::uint64_t packets = 0;
  for (std::uint32_t host = 0; host < kHosts; ++host) packets += 1 + host % 3;
  const Sum sum = sum_of(table);
  EXPECT_EQ(sum.rows, kHosts + 1);
  EXPECT_EQ(sum.named, kHosts + 1);
  EXPECT_EQ(sum.with_peers, kHosts + 1);
  EXPECT_EQ(sum.flows, 2 * kHosts);
  EXPECT_EQ(sum.sent, packets);
  EXPECT_EQ(sum.received, packets);
}

TEST(GroupTable, WhatFindsNoRoomIsInOneRowWithoutAName) {
  const GroupSchema schema = schema_by("host", kColumns);
  GroupTable table(schema, 10, 1);
  for (std::uint32_t host = 0; host < 100; ++host) table.add({flow_from(host, 2), {}});
  const Sum sum = sum_of(table);
  EXPECT_EQ(sum.rows, 11);
  EXPECT_EQ(sum.named, 10);
  EXPECT_EQ(sum.sent, 200);
  EXPECT_EQ(sum.received, 200);
  EXPECT_EQ(sum.flows, 200);  // 9 hosts have one, the server has 100, and the others have 91
}

TEST(GroupTable, AFlowBetweenTwoHostsWithoutRoomCountsOnceThere) {
  const GroupSchema schema = schema_by("host", kColumns);
  GroupTable table(schema, 1, 1);
  table.add({flow_from(1, 1), {}});  // takes the only place
  FlowRecord elsewhere = flow_from(2, 5);
  elsewhere.key.address[4] = 198;
  table.add({elsewhere, {}});
  std::uint64_t flows_without_name = 0;
  table.visit([&](const ReportFlow& row) {
    if (!row.values[0].present()) flows_without_name = number(row.values[2]);
  });
  EXPECT_EQ(flows_without_name, 2);  // the server's end of the first, and the second
}

TEST(GroupTable, PeersAreDifferentAddresses) {
  const GroupSchema schema = schema_by("service", {"port", "peers"});
  GroupTable table(schema, 100, 1);
  for (int again = 0; again < 3; ++again)
    for (std::uint32_t host = 0; host < 5; ++host) table.add({flow_from(host, 1), {}});
  table.visit([&](const ReportFlow& row) {
    EXPECT_EQ(number(row.values[0]), 443);
    EXPECT_EQ(number(row.values[1]), 5);
  });
}

TEST(GroupTable, WithTooManyPairsPeersAreAbsentNotWrong) {
  const GroupSchema schema = schema_by("service", {"peers", "flows"});
  GroupTable table(schema, 1, 1);
  for (std::uint32_t host = 0; host < 140'000; ++host) table.add({flow_from(host, 1), {}});
  table.visit([&](const ReportFlow& row) {
    EXPECT_FALSE(row.values[0].present());
    EXPECT_EQ(number(row.values[1]), 140'000);
  });
}

TEST(GroupTable, OnlyWhatCameSinceTheReportBeforeIsAdded) {
  const GroupSchema schema = schema_by("host", {"host", "out_packets", "out_bps"});
  GroupTable table(schema, 100, 1);
  const IntervalBase before{.packets = 7, .wire_bytes = 420, .first_ns = 1, .interval_s = 2};
  table.add({flow_from(1, 10), {}, before});
  table.add({flow_from(2, 7), {}, before});
  std::uint64_t sent = 0;
  table.visit([&](const ReportFlow& row) {
    sent += number(row.values[1]);
    if (number(row.values[1]) != 0) {
      EXPECT_EQ(row.values[2].as_real(), 8 * 180.0 / 2);
    }
  });
  EXPECT_EQ(sent, 3);
}

TEST(GroupTable, ClearedItBeginsAnew) {
  const GroupSchema schema = schema_by("host", kColumns);
  GroupTable table(schema, 10, 1);
  for (std::uint32_t host = 0; host < 100; ++host) table.add({flow_from(host, 2), {}});
  table.clear();
  table.add({flow_from(1, 2), {}});
  const Sum sum = sum_of(table);
  EXPECT_EQ(sum.rows, 2);
  EXPECT_EQ(sum.sent, 2);
}

TEST(GroupTable, WithoutMemoryItAsksOnceAndBeginsAnewWhenCleared) {
  const GroupSchema schema = schema_by("host", kColumns);
  GroupTable table(schema, 1 << 20, 1);
  const auto named_of = [&](std::uint32_t hosts) {
    for (std::uint32_t host = 0; host < hosts; ++host) table.add({flow_from(host, 1), {}});
    const Sum sum = sum_of(table);
    EXPECT_EQ(sum.sent, sum.received);
    return sum.named;
  };
  constexpr std::uint64_t kFirst = 4096;
  EXPECT_EQ(named_of(kFirst - 1), kFirst);
  std::optional<AddressSpaceLimit> limit(64 << 10);
  table.add({flow_from(100'000, 1), {}});
  limit.reset();
  EXPECT_EQ(named_of(50'000), kFirst);
  table.clear();
  EXPECT_EQ(named_of(50'000), 50'001);
}

TEST(GroupTable, APrefixThatIsPartlyInsideHasNoPlace) {
  const std::vector<std::string> networks{"10.0.1.0/24", "10.0.2.128/25", "192.0.2.0/16"};
  const GroupSchema schema = schema_by("prefix", {"prefix", "place"}, *Networks::parse(networks));
  GroupTable table(schema, 100, 1);
  for (const std::uint32_t net : {1, 2, 3}) table.add({flow_from(net << 8 | 200, 1), {}});
  std::map<int, std::string> places;  // by the third byte of 10.0.x.0
  table.visit([&](const ReportFlow& row) {
    const auto address = row.values[0].as_address();
    if (address[0] == 10) places[address[2]] = row.values[1].present() ? std::to_string(number(row.values[1])) : "-";
    if (address[0] == 192) {
      EXPECT_EQ(number(row.values[1]), 1);
    }
  });
  EXPECT_EQ(places, (std::map<int, std::string>{{1, "1"}, {2, "-"}, {3, "0"}}));
}

TEST(GroupTable, ItsMemoryIsNoMoreThanItSays) {
  for (const std::uint64_t most : {1ull, 5000ull, 65'537ull})
    EXPECT_GT(GroupTable::memory_bytes(most, false), 128 * most);
}

TEST(NetworksTest, NetworksAreReadOrRefused) {
  const auto parsed = [](std::string text) { return Networks::parse(std::span(&text, 1)).has_value(); };
  for (const char* const good : {"10.0.0.0/8", "192.0.2.1", "::/0", "2001:db8::/32", "0.0.0.0/0"})
    EXPECT_TRUE(parsed(good)) << good;
  for (const char* const bad :
       {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8x", "10.0.0/8", "::/129", "lan", "/8", "1.2.3.4/-1"})
    EXPECT_FALSE(parsed(bad)) << bad;
}

TEST(GroupTable, ATextHasBothDirectionsWhicheverComesFirst) {
  const Schema flows = *Schema::make(std::vector<std::string>{"http_host"}, {});
  const GroupSchema schema =
      *GroupSchema::make(*find_grouping("http_host"), {}, flows.columns(),
                         std::vector<std::string>{"http_host", "flows", "in_packets", "out_packets"});
  GroupTable table(schema, 100, 1);
  std::vector<Value> values(flows.columns().size());
  const auto add = [&](std::uint32_t host, std::uint64_t packets, bool is_back, std::string_view text) {
    FlowRecord record = flow_from(host, packets);
    if (is_back) record.key = opposite(record.key);
    const std::string kept(text);  // only as long as the call
    values.back() = text.empty() ? Value() : Value::of_text(kept);
    table.add({record, values});
  };
  add(1, 100, true, "");
  add(1, 1, false, "b.example");
  add(1, 10, false, "");  // a later record of the same flow
  add(2, 2, false, "a.example");
  add(2, 200, true, "");
  add(3, 30, true, "");
  for (int again = 0; again < 2; ++again) {
    std::vector<std::string> rows;
    table.visit([&](const ReportFlow& row) {
      const auto& of = row.values;
      rows.push_back(fmt::format("{} {} {} {}", of[0].present() ? of[0].as_text() : "-", number(of[1]), number(of[2]),
                                 number(of[3])));
    });
    EXPECT_THAT(rows, ::testing::ElementsAre("- 1 0 30", "a.example 2 2 200", "b.example 3 11 100"));
  }
}

TEST(GroupTable, TextsWithoutRoomAreInOneRow) {
  const Schema flows = *Schema::make(std::vector<std::string>{"dns_name"}, {});
  const GroupSchema schema = *GroupSchema::make(*find_grouping("dns_name"), {}, flows.columns(),
                                                std::vector<std::string>{"dns_name", "wire_bytes"});
  GroupTable table(schema, 3, 1);
  std::vector<Value> values(flows.columns().size());
  for (std::uint32_t host = 0; host < 10; ++host) {
    const std::string name = fmt::format("host{}.example", host);
    values.back() = Value::of_text(name);
    table.add({flow_from(host, 1), values});
  }
  std::uint64_t rows = 0, bytes = 0;
  table.visit([&](const ReportFlow& row) {
    ++rows;
    bytes += number(row.values[1]);
  });
  EXPECT_EQ(rows, 4);
  EXPECT_EQ(bytes, 600);
}

}  // namespace
}  // namespace parshall
