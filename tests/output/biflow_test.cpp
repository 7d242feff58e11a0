// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/biflow.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <vector>

#include "pipeline/output/schema.hpp"

namespace parshall {
namespace {

using namespace std::chrono_literals;
using Taken = BiflowHold::Taken;
using Clock = BiflowHold::Clock;
constexpr std::uint64_t kReach = 15'000'000'000, kBegin = 1'600'000'000'000'000'000;

/// Of a TCP connection of two hosts, by one of them.
FlowRecord record(std::uint8_t src, std::uint8_t dst, std::uint64_t packets, std::uint64_t at = kBegin,
                  bool ipv6 = false) {
  FlowRecord flow{.key = {},
                  .packets = packets,
                  .ip_bytes = 40 * packets,
                  .wire_bytes = 60 * packets,
                  .first_ns = at,
                  .last_ns = at + 1000,
                  .tcp_flags = 0x12,
                  .end_reason = EndReason::idle_timeout};
  flow.key.ip_version = ipv6 ? 6 : 4;
  flow.key.protocol = 6;
  const std::size_t bytes = flow.key.address_bytes();
  flow.key.address[bytes - 1] = src;
  flow.key.address[2 * bytes - 1] = dst;
  flow.key.src_port_bytes = {0, src};
  flow.key.dst_port_bytes = {0, dst};
  if (!ipv6) flow.key.address[20] = src;  // unspecified there
  return flow;
}

class Biflows : public ::testing::Test {
 protected:
  explicit Biflows(std::size_t slots = 4)
      : schema_([] {
          Schema schema =
              *Schema::make(std::vector<std::string>{"duration", "exact", "missed_packets_at_most", "tcp_flags"}, {});
          schema.add_reverse();
          return schema;
        }()),
        hold_(schema_.columns(), kReach, slots),
        values_(schema_.columns().size()) {}

  Taken take(const FlowRecord& flow, Clock::time_point now = {}) {
    record_ = flow;
    schema_.read(record_, {}, {}, values_);
    return hold_.take(record_, values_, now);
  }
  Value value(std::string_view name) const {
    const auto columns = schema_.columns();
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].name == name) return values_[i];
    ADD_FAILURE() << name;
    return {};
  }

  Schema schema_;
  BiflowHold hold_;
  FlowRecord record_;
  std::vector<Value> values_;
};

TEST_F(Biflows, BothDirectionsBecomeOneOfWhoBegan) {
  for (const bool ipv6 : {false, true})
    for (const bool answer_first : {false, true}) {
      FlowRecord request = record(1, 2, 10, kBegin, ipv6), answer = record(2, 1, 7, kBegin + 500, ipv6);
      answer.last_ns = kBegin + 5000;
      answer.tcp_flags = 0x1a;
      EXPECT_EQ(take(answer_first ? answer : request), Taken::held);
      EXPECT_EQ(hold_.held(), (OutputSummary::Sum{.records = 1, .packets = answer_first ? 7u : 10u}));
      ASSERT_EQ(take(answer_first ? request : answer), Taken::merged);
      EXPECT_EQ(hold_.held(), OutputSummary::Sum());
      EXPECT_EQ(record_.packets, 17u) << "of both";
      EXPECT_EQ(value("src_port"), Value::of_unsigned(1));
      EXPECT_EQ(value("packets"), Value::of_unsigned(10));
      EXPECT_EQ(value("wire_bytes"), Value::of_unsigned(600));
      EXPECT_EQ(value("first_seen_ns"), Value::of_time(kBegin));
      EXPECT_EQ(value("last_seen_ns"), Value::of_time(kBegin + 5000));
      EXPECT_EQ(value("duration_ns"), Value::of_signed(5000));
      EXPECT_EQ(value("tcp_flags"), Value::of_flags(0x12));
      EXPECT_EQ(value("reverse_packets"), Value::of_unsigned(7));
      EXPECT_EQ(value("reverse_ip_bytes"), Value::of_unsigned(280));
      EXPECT_EQ(value("reverse_wire_bytes"), Value::of_unsigned(420));
      EXPECT_EQ(value("reverse_tcp_flags"), Value::of_flags(0x1a));
      EXPECT_EQ(value("biflow_direction"), Value::of_unsigned(1));
      EXPECT_EQ(value("exact"), Value::of_bool(true));
    }
}

TEST_F(Biflows, OfAConnectionThatWasThereBeforeNobodyKnowsWhoBegan) {
  FlowRecord a = record(1, 2, 10), b = record(2, 1, 7);
  a.tcp_flags = b.tcp_flags = 0x10;
  take(a);
  ASSERT_EQ(take(b), Taken::merged);
  EXPECT_EQ(value("biflow_direction"), Value::of_unsigned(0));
}

TEST_F(Biflows, OneThatWaitedInVainLeavesAsItCame) {
  take(record(1, 2, 10), Clock::time_point(1s));
  take(record(3, 4, 11), Clock::time_point(3s));
  EXPECT_FALSE(hold_.release(Clock::time_point(500ms), record_, values_));
  ASSERT_TRUE(hold_.release(Clock::time_point(2s), record_, values_));
  EXPECT_EQ(value("packets"), Value::of_unsigned(10));
  EXPECT_FALSE(value("reverse_packets").present());
  EXPECT_EQ(value("biflow_direction"), Value::of_unsigned(0));
  EXPECT_FALSE(hold_.release(Clock::time_point(2s), record_, values_));
  ASSERT_TRUE(hold_.release(Clock::time_point::max(), record_, values_));
  EXPECT_EQ(record_.packets, 11u);
  EXPECT_EQ(hold_.held(), OutputSummary::Sum());
}

TEST_F(Biflows, TheOldestMakesRoom) {
  for (std::uint8_t i = 0; i < 4; ++i) EXPECT_EQ(take(record(i, 100, i + 1u)), Taken::held);
  EXPECT_EQ(take(record(4, 100, 5)), Taken::other);
  EXPECT_EQ(record_.packets, 1u);
  EXPECT_EQ(value("packets"), Value::of_unsigned(1));
  EXPECT_EQ(hold_.held(), (OutputSummary::Sum{.records = 4, .packets = 2 + 3 + 4 + 5}));
  EXPECT_EQ(take(record(100, 4, 9)), Taken::merged) << "who came for it is there";
}

TEST_F(Biflows, AFlowThatGoesOnAndOneOfAnotherTimeDoNotBecomeOne) {
  EXPECT_EQ(take(record(1, 2, 10)), Taken::held);
  EXPECT_EQ(take(record(1, 2, 20, kBegin + 2000)), Taken::other) << "its record before";
  EXPECT_EQ(record_.packets, 10u);
  EXPECT_EQ(take(record(2, 1, 5, kBegin + 3000 + kReach)), Taken::merged) << "just near enough";
  EXPECT_EQ(take(record(1, 2, 10)), Taken::held);
  EXPECT_EQ(take(record(2, 1, 5, kBegin + 1001 + kReach)), Taken::other) << "another connection's";
  EXPECT_EQ(record_.packets, 10u);
}

TEST_F(Biflows, OtherProtocolsAndOneAddressToItselfAreTakenToo) {
  FlowRecord udp = record(1, 2, 10);
  udp.key.protocol = 17;
  EXPECT_EQ(take(record(1, 2, 10)), Taken::held);
  EXPECT_EQ(take(udp), Taken::held) << "another flow";
  FlowRecord alone = record(5, 5, 3);
  EXPECT_EQ(take(alone), Taken::other) << "it has no other direction";
  EXPECT_EQ(record_.packets, 3u);
}

class ManyBiflows : public Biflows {
 protected:
  ManyBiflows() : Biflows(64) {}
};

TEST_F(ManyBiflows, NoPacketIsLostOrInventedWhateverComes) {
  std::mt19937 random(1);
  std::uint64_t in = 0, out = 0, merged = 0;
  std::uint64_t records_in = 0, records_out = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto a = static_cast<std::uint8_t>(random() % 20), b = static_cast<std::uint8_t>(random() % 20);
    const FlowRecord flow = record(a, b, 1 + random() % 100, kBegin + random() % (3 * kReach), random() % 2 == 0);
    in += flow.packets;
    ++records_in;
    const Taken taken = take(flow, Clock::time_point(std::chrono::seconds(i)));
    merged += taken == Taken::merged;
    if (taken != Taken::held) {
      out += record_.packets;
      ++records_out;
      EXPECT_EQ(record_.packets, value("packets").as_unsigned() + value("reverse_packets").as_unsigned());
    }
    if (random() % 50 == 0)
      while (hold_.release(Clock::time_point(std::chrono::seconds(i - 100)), record_, values_)) {
        out += record_.packets;
        ++records_out;
      }
    ASSERT_EQ(in, out + hold_.held().packets);
    ASSERT_EQ(records_in, records_out + merged + hold_.held().records);
  }
  while (hold_.release(Clock::time_point::max(), record_, values_)) out += record_.packets;
  EXPECT_EQ(in, out);
  EXPECT_GT(merged, 1000u);
}

}  // namespace
}  // namespace parshall
