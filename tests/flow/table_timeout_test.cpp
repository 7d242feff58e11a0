// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "facts.hpp"
#include "tables.hpp"

namespace parshall {
namespace {

using namespace testing;

struct TableTimeouts : EveryTable {
  EndedRecords ended;
  const FlowKey key = key_of(1);

  SlotRef packet(AnyTable& table, std::uint64_t time_ns, std::uint32_t tcp_flags = 0) {
    return count_one(table, facts_of(key, 42, {.time_ns = time_ns, .tcp_flags = tcp_flags}));
  }
};
INSTANTIATE_TEST_SUITE_P(All, TableTimeouts, ::testing::ValuesIn(table_kinds()), EveryTable::name_of);

TEST_P(TableTimeouts, AnIdleRecordEndsAtTheFirstPacketBeyondTheTimeoutAndNotAtIt) {
  const auto made = make(16, {.idle_ns = 100}, ended);
  AnyTable& table = *made;
  EXPECT_TRUE(packet(table, 1000).is_new());
  EXPECT_FALSE(packet(table, 1100).is_new()) << "exactly the timeout is not beyond it";
  EXPECT_FALSE(packet(table, 1200).is_new());
  EXPECT_TRUE(packet(table, 1301).is_new());
  ASSERT_EQ(ended.all.size(), 1u);
  const FlowRecord& record = ended.all[0].record;
  EXPECT_EQ(record.end_reason, EndReason::idle_timeout);
  EXPECT_EQ(record.packets, 3u);
  EXPECT_EQ(record.first_ns, 1000u);
  EXPECT_EQ(record.last_ns, 1200u);
  const FlowRecord next = *find(table, key);
  EXPECT_EQ(next.packets, 1u);
  EXPECT_EQ(next.first_ns, 1301u);
}

TEST_P(TableTimeouts, AnActiveRecordEndsAtTheFirstPacketBeyondTheTimeoutAndNotAtIt) {
  const auto made = make(16, {.active_ns = 100}, ended);
  AnyTable& table = *made;
  for (const std::uint64_t time_ns : {1000u, 1050u, 1100u}) packet(table, time_ns);
  EXPECT_EQ(ended.all.size(), 0u);
  EXPECT_TRUE(packet(table, 1101).is_new());
  EXPECT_FALSE(packet(table, 1201).is_new());
  EXPECT_TRUE(packet(table, 1202).is_new());
  ASSERT_EQ(ended.all.size(), 2u);
  for (const auto& one : ended.all) EXPECT_EQ(one.record.end_reason, EndReason::active_timeout);
  EXPECT_EQ(ended.all[0].record.packets, 3u);
  EXPECT_EQ(ended.all[0].record.last_ns, 1100u);
  EXPECT_EQ(ended.all[1].record.packets, 2u);
  EXPECT_EQ(ended.all[1].record.first_ns, 1101u);
}

TEST_P(TableTimeouts, WhereBothTimeoutsHavePassedTheRecordWasIdle) {
  const auto made = make(16, {.idle_ns = 100, .active_ns = 150}, ended);
  AnyTable& table = *made;
  packet(table, 1000);
  packet(table, 1200);
  ASSERT_EQ(ended.all.size(), 1u);
  EXPECT_EQ(ended.all[0].record.end_reason, EndReason::idle_timeout);
}

TEST_P(TableTimeouts, ALatePacketNeverEndsARecord) {
  const auto made = make(16, {.idle_ns = 100, .active_ns = 500}, ended);
  AnyTable& table = *made;
  for (const std::uint64_t time_ns : {1000u, 1001u, 1u, 500u, 1002u}) packet(table, time_ns);
  ASSERT_EQ(ended.all.size(), 1u) << "1002 is more than the active timeout after the first packet, at 1";
  EXPECT_EQ(ended.all[0].record.end_reason, EndReason::active_timeout);
  EXPECT_EQ(ended.all[0].record.packets, 4u);
  EXPECT_EQ(ended.all[0].record.first_ns, 1u);
}

TEST_P(TableTimeouts, TheSweepEndsIdleFlowsOnlyAndVisitsEveryLineInOneRound) {
  const auto made = make(1000, {.idle_ns = 100}, ended);
  AnyTable& table = *made;
  for (std::uint64_t flow = 0; flow < 900; ++flow)
    count_one(table, facts_of(key_of(flow), SplitMix64::mix(flow + 1), {.time_ns = flow % 3 == 0 ? 1000u : 2000u}));
  const auto lines = static_cast<std::uint32_t>(table.buckets());
  for (std::uint32_t done = 0; done < lines; done += 16) table.sweep(2100, 16);
  table.sweep(2100, 0);
  for (std::uint32_t slot = 0; slot < table.slots(); ++slot)
    if (table.occupied(slot)) {
      ASSERT_EQ(table.record(slot).last_ns, 2000u) << "an idle flow was passed over";
    }
  std::size_t idle = 0;
  for (const auto& one : ended.all) {
    if (one.record.end_reason != EndReason::idle_timeout) continue;  // a structure may have had no room for it
    ASSERT_EQ(one.record.last_ns, 1000u);
    ++idle;
  }
  EXPECT_GT(idle, 200u);
  EXPECT_EQ(table.size() + ended.all.size(), 900u);
  for (std::uint32_t done = 0; done < lines; done += 16) table.sweep(2101, 16);
  table.sweep(2101, 0);
  EXPECT_EQ(table.size(), 0u);
}

TEST_P(TableTimeouts, AFlowThatWasIdleWhenItWasSweptAndHasAPacketSinceGoesOn) {
  const auto made = make(16, {.idle_ns = 100}, ended);
  AnyTable& table = *made;
  packet(table, 1000);
  table.sweep(1101, static_cast<std::uint32_t>(table.buckets()));
  packet(table, 1050);
  table.sweep(1101, 0);
  // A table may end it at once: then the packet began another record. No record has lasted on or is lost.
  std::uint64_t packets = 0;
  for (const auto& one : ended.all) packets += one.record.packets;
  for (std::uint32_t slot = 0; slot < table.slots(); ++slot)
    if (table.occupied(slot)) {
      packets += table.record(slot).packets;
      ASSERT_EQ(table.record(slot).last_ns, 1050u);
    }
  EXPECT_EQ(packets, 2u);
  EXPECT_EQ(table.size(), 1u);
}

constexpr std::uint32_t kFin = 1, kSyn = 2, kRst = 4, kAck = 16;

TEST_P(TableTimeouts, AClosedFlowEndsAtTheFirstPacketBeyondTheLingerTimeAndNotAtIt) {
  for (const std::uint32_t closing : {kFin | kAck, kRst}) {
    ended.all.clear();
    const auto made = make(16, {.linger_ns = 100}, ended);
    AnyTable& table = *made;
    packet(table, 1000, kSyn);
    EXPECT_FALSE(packet(table, 1900, kAck).is_new()) << "it is not closed: nothing ends it";
    packet(table, 1950, closing);
    EXPECT_FALSE(packet(table, 2050, kAck).is_new()) << "exactly the linger time is not beyond it";
    EXPECT_TRUE(packet(table, 2151, kSyn).is_new());
    EXPECT_FALSE(packet(table, 9000, kAck).is_new()) << "a record after a closed one is not closed";
    ASSERT_EQ(ended.all.size(), 1u);
    const FlowRecord& record = ended.all[0].record;
    EXPECT_EQ(record.end_reason, EndReason::end_of_flow);
    EXPECT_EQ(record.packets, 4u);
    EXPECT_EQ(record.last_ns, 2050u);
  }
}

TEST_P(TableTimeouts, WhereLingerAndIdleTimeHavePassedTheFlowWasClosed) {
  const auto made = make(16, {.idle_ns = 200, .linger_ns = 100}, ended);
  AnyTable& table = *made;
  packet(table, 1000, kFin);
  packet(table, 5000, kAck);
  packet(table, 9000, kAck);
  ASSERT_EQ(ended.all.size(), 2u);
  EXPECT_EQ(ended.all[0].record.end_reason, EndReason::end_of_flow);
  EXPECT_EQ(ended.all[1].record.end_reason, EndReason::idle_timeout);
}

TEST_P(TableTimeouts, AFlowThatSpilledItsCountsIsClosedAllTheSame) {
  const auto made = make(16, {.linger_ns = 100}, ended);
  AnyTable& table = *made;
  packet(table, 1000, kFin);
  for (std::uint64_t i = 0; i < 20'000; ++i) packet(table, 1000, kAck);
  packet(table, 1101, kSyn);
  ASSERT_EQ(ended.all.size(), 1u);
  EXPECT_EQ(ended.all[0].record.end_reason, EndReason::end_of_flow);
  EXPECT_EQ(ended.all[0].record.packets, 20'001u);
}

TEST_P(TableTimeouts, WithoutLingerAndIdleTimeNoGapOfAnyLengthEndsARecord) {
  const auto made = make(16, {.active_ns = 0}, ended);
  AnyTable& table = *made;
  packet(table, 1, kFin);
  packet(table, ~std::uint64_t{0}, kAck);
  EXPECT_EQ(ended.all.size(), 0u);
}

TEST_P(TableTimeouts, TheSweepEndsClosedFlowsBeforeIdleOnes) {
  const auto made = make(1000, {.idle_ns = 1000, .linger_ns = 100}, ended);
  AnyTable& table = *made;
  for (std::uint64_t flow = 0; flow < 600; ++flow)
    count_one(table, facts_of(key_of(flow), SplitMix64::mix(flow + 1),
                              {.time_ns = 1000, .tcp_flags = flow % 3 == 0 ? kFin | kAck : kAck}));
  const auto lines = static_cast<std::uint32_t>(table.buckets());
  const auto sweep_at = [&](std::uint64_t now_ns) {
    for (std::uint32_t done = 0; done < lines; done += 16) table.sweep(now_ns, 16);
    table.sweep(now_ns, 0);
  };
  sweep_at(1100);
  std::size_t evicted = 0;  // a structure may have had no room for some
  for (const auto& one : ended.all) evicted += one.record.end_reason == EndReason::lack_of_resources ? 1 : 0;
  ASSERT_EQ(ended.all.size(), evicted) << "exactly the linger time is not beyond it";
  sweep_at(1101);
  EXPECT_GT(ended.all.size(), evicted + 150);
  for (const auto& one : ended.all)
    if (one.record.end_reason != EndReason::lack_of_resources) {
      ASSERT_EQ(one.record.end_reason, EndReason::end_of_flow);
      ASSERT_EQ(one.record.tcp_flags, kFin | kAck);
    }
  for (std::uint32_t slot = 0; slot < table.slots(); ++slot)
    if (table.occupied(slot)) {
      ASSERT_EQ(table.record(slot).tcp_flags, kAck) << "a closed flow was passed over";
    }
  sweep_at(2001);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(ended.all.back().record.end_reason, EndReason::idle_timeout);
}

TEST_P(TableTimeouts, TheSweepLeavesFlowsFromTheFutureAlone) {
  const auto made = make(16, {.idle_ns = 100}, ended);
  AnyTable& table = *made;
  packet(table, 5000);
  table.sweep(1000, 1000);
  EXPECT_EQ(ended.all.size(), 0u);
}

TEST_P(TableTimeouts, ARecordThatEndedByTimeoutStartsAgainFromNothing) {
  const auto made = make(16, {.idle_ns = 100}, ended);
  AnyTable& table = *made;
  for (std::uint64_t i = 0; i < 20'000; ++i)
    count_one(table, facts_of(key, 42, {.time_ns = 1000, .ip_bytes = 1500, .wire_bytes = 1514, .tcp_flags = 0x12}));
  count_one(table, facts_of(key, 42, {.time_ns = 5000, .ip_bytes = 40, .wire_bytes = 60, .tcp_flags = 1}));
  const FlowRecord record = *find(table, key);
  EXPECT_EQ(Expected::of(record), (Expected{1, 40, 60, 5000, 5000, 1}));
  EXPECT_EQ(ended.all[0].record.packets, 20'000u);
  EXPECT_EQ(ended.all[0].record.ip_bytes, 20'000u * 1500);
}

}  // namespace
}  // namespace parshall
