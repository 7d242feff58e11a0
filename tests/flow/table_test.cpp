// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <unordered_set>

#include "facts.hpp"
#include "tables.hpp"

namespace parshall {
namespace {

using namespace testing;

struct FlowTables : EveryTable {};
INSTANTIATE_TEST_SUITE_P(All, FlowTables, ::testing::ValuesIn(table_kinds()), EveryTable::name_of);

/// Random packets of `flows` flows against std::unordered_map; what leaves the table must be what the map had.
void expect_agreement(const TableKind& kind, std::uint64_t flows, std::size_t capacity, double zipf_exponent,
                      Timeouts timeouts, std::uint64_t packets) {
  EndedRecords ended;
  const auto made = kind.make(capacity, timeouts, ended);
  AnyTable& table = *made;
  const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, flows + capacity);
  const Zipf zipf(zipf_exponent > 0 ? zipf_exponent : 1, flows);
  SplitMix64 random(flows ^ packets);
  std::unordered_map<std::string, Expected> oracle;
  std::size_t checked = 0;
  std::uint64_t time_ns = 1'000'000'000;

  const auto check_ended = [&] {
    for (; checked < ended.all.size(); ++checked) {
      const FlowRecord& record = ended.all[checked].record;
      const auto expected = oracle.find(text_of(record.key));
      ASSERT_NE(expected, oracle.end()) << "a record of a flow that had none";
      ASSERT_EQ(Expected::of(record), expected->second);
      ASSERT_NE(record.end_reason, EndReason::none);
      oracle.erase(expected);
    }
  };
  for (std::uint64_t i = 0; i < packets; ++i) {
    const std::uint64_t flow = zipf_exponent > 0 ? zipf(random) : random.below(flows);
    PacketSpec packet;
    packet.time_ns = time_ns += random.below(2000);
    if (random.below(50) == 0) packet.time_ns -= random.below(1'000'000);
    packet.ip_bytes = static_cast<std::uint32_t>(20 + random.below(1481));
    packet.wire_bytes = packet.ip_bytes + 14;
    if (random.below(100) == 0) packet.wire_bytes = static_cast<std::uint32_t>(random.below(70'000));
    packet.tcp_flags = 1u << random.below(9);
    PacketFacts facts = facts_of(key_of(flow), 0, packet);
    identity(RawPacket{}, facts);
    const SlotRef slot = count_one(table, facts);
    check_ended();
    if (::testing::Test::HasFatalFailure()) return;
    const bool is_new = !oracle.contains(text_of(facts.key));
    ASSERT_EQ(slot.is_new(), is_new) << "packet " << i;
    oracle[text_of(facts.key)].add(packet);
    ASSERT_TRUE(table.occupied(slot.slot()));
    ASSERT_TRUE(table.key(slot.slot()) == facts.key);
    if (i % 256 == 0) table.sweep(time_ns, 16);
    check_ended();
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_EQ(table.size(), oracle.size());
    if (i % 4096 == 0) {
      ASSERT_EQ(live_packets(table) + ended.packets, i + 1) << "packets got lost";
    }
  }
  std::size_t live = 0;
  for (std::uint32_t slot = 0; slot < table.slots(); ++slot) {
    if (!table.occupied(slot)) continue;
    ++live;
    const FlowRecord record = table.record(slot);
    const auto expected = oracle.find(text_of(record.key));
    ASSERT_NE(expected, oracle.end());
    ASSERT_EQ(Expected::of(record), expected->second);
  }
  ASSERT_EQ(live, oracle.size());
  ASSERT_EQ(live_packets(table) + ended.packets, packets);
}

TEST_P(FlowTables, UniformTrafficIsCountedAsAMapCountsIt) { expect_agreement(GetParam(), 3000, 4096, 0, {}, 100'000); }
TEST_P(FlowTables, ZipfTrafficIsCountedAsAMapCountsIt) {
  expect_agreement(GetParam(), 20'000, 30'000, 1.1, {}, 200'000);
}
TEST_P(FlowTables, MoreFlowsThanCapacityLoseNoPacket) { expect_agreement(GetParam(), 5000, 1000, 0, {}, 100'000); }
TEST_P(FlowTables, ZipfTrafficBeyondCapacityLosesNoPacket) {
  expect_agreement(GetParam(), 100'000, 1024, 1.0, {}, 100'000);
}
TEST_P(FlowTables, ATableOfOneFlowLosesNoPacket) { expect_agreement(GetParam(), 3, 1, 0, {}, 5'000); }
TEST_P(FlowTables, IdleTimeoutsLoseNoPacket) {
  expect_agreement(GetParam(), 1000, 4096, 0.9, {.idle_ns = 300'000}, 100'000);
}
TEST_P(FlowTables, ActiveTimeoutsLoseNoPacket) {
  expect_agreement(GetParam(), 500, 4096, 0.9, {.active_ns = 3'000'000}, 100'000);
}
TEST_P(FlowTables, BothTimeoutsInAFullTableLoseNoPacket) {
  expect_agreement(GetParam(), 3000, 700, 0.8, {.idle_ns = 900'000, .active_ns = 3'000'000}, 100'000);
}

TEST_P(FlowTables, OneCallWithManyPacketsCountsAsManyCallsWithOne) {
  EndedRecords ended_one, ended_many;
  const auto table_for_one = make(64, {}, ended_one), table_for_many = make(64, {}, ended_many);
  AnyTable &one = *table_for_one, &many = *table_for_many;
  const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, 3);
  SplitMix64 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::array<PacketFacts, 8> facts;
    std::array<SlotRef, 8> slots;
    for (auto& packet : facts) {
      packet = facts_of(key_of(random.below(150)), 0, {.time_ns = static_cast<std::uint64_t>(round)});
      identity(RawPacket{}, packet);
    }
    many.update(facts, slots);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const SlotRef slot = count_one(one, facts[i]);
      ASSERT_EQ(slot.slot(), slots[i].slot());
      ASSERT_EQ(slot.is_new(), slots[i].is_new());
    }
  }
  ASSERT_EQ(ended_one.all.size(), ended_many.all.size());
  EXPECT_GT(ended_one.all.size(), 100u);
}

TEST_P(FlowTables, TheSinkIsToldHowManyPacketsOfTheCallCameBeforeARecordEnded) {
  EndedRecords ended;
  const auto made = make(1, {}, ended);
  AnyTable& table = *made;
  std::array<PacketFacts, 6> facts;
  std::array<SlotRef, 6> slots;
  for (std::size_t i = 0; i < 6; ++i) facts[i] = facts_of(key_of(i / 2, false), SplitMix64::mix(i / 2), {.time_ns = i});
  table.update(facts, slots);
  ASSERT_EQ(ended.all.size(), 2u);
  EXPECT_EQ(ended.all[0].counted, 2u);
  EXPECT_EQ(ended.all[1].counted, 4u);
}

/// Knows at every moment which flow each slot has, by what it is told.
struct Follower final : FlowSink {
  std::unordered_map<std::uint32_t, std::string> flow_of;
  std::size_t moves = 0;

  void flow_ended(FlowRecord& record, std::uint32_t slot, std::size_t) noexcept override {
    EXPECT_EQ(flow_of[slot], text_of(record.key));
    flow_of.erase(slot);
  }
  void flow_moved(std::uint32_t from, std::uint32_t to, std::size_t) noexcept override {
    EXPECT_FALSE(flow_of.contains(to)) << "a slot is used twice";
    flow_of[to] = flow_of[from];
    flow_of.erase(from);
    ++moves;
  }
};

TEST_P(FlowTables, TheSinkHearsOfEverySlotThatAFlowGoesTo) {
  Follower sink;
  const auto made = make(1000, {.idle_ns = 400'000}, sink);
  AnyTable& table = *made;
  const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, 9);
  SplitMix64 random(9);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    PacketFacts facts = facts_of(key_of(random.below(1500)), 0, {.time_ns = i * 300});
    identity(RawPacket{}, facts);
    const SlotRef slot = count_one(table, facts);
    if (slot.is_new()) sink.flow_of[slot.slot()] = text_of(facts.key);
    ASSERT_EQ(sink.flow_of[slot.slot()], text_of(facts.key)) << "packet " << i;
    if (i % 64 == 0) table.sweep(i * 300, 32);
  }
  ASSERT_EQ(sink.flow_of.size(), table.size());
  for (const auto& [slot, flow] : sink.flow_of) ASSERT_EQ(text_of(table.key(slot)), flow);
  EXPECT_TRUE(GetParam().moves || sink.moves == 0);
}

TEST_P(FlowTables, AMillionPacketsOfOneFlowCarryIntoTheColdRow) {
  EndedRecords ended;
  const auto made = make(16, {}, ended);
  AnyTable& table = *made;
  SplitMix64 random(1);
  Expected expected;
  const FlowKey key = key_of(1, false);
  for (std::uint64_t i = 0; i < (1u << 20) + 12'345; ++i) {
    const auto ip_bytes = static_cast<std::uint32_t>(random.below(65'536));
    const PacketSpec packet{
        .time_ns = i, .ip_bytes = ip_bytes, .wire_bytes = ip_bytes + 14, .tcp_flags = i == 777 ? 0x100u : 0x10u};
    expected.add(packet);
    count_one(table, facts_of(key, 42, packet));
  }
  ASSERT_TRUE(find(table, key));
  EXPECT_EQ(Expected::of(*find(table, key)), expected);
}

TEST_P(FlowTables, JumboAndWideLengthsAddUpExactly) {
  EndedRecords ended;
  const auto made = make(16, {}, ended);
  AnyTable& table = *made;
  Expected expected;
  const FlowKey key = key_of(1, true);
  std::uint64_t time_ns = 0;
  for (int round = 0; round < 3000; ++round)
    for (const auto& [ip, wire] : {std::pair{9000u, 9014u},
                                   {65'535u, 65'549u},
                                   {65'535u, 60u},
                                   {1500u, 20u},
                                   {4'194'303u, 4'194'317u},
                                   {100u, 70'000u},
                                   {46u, 60u}}) {
      const PacketSpec packet{.time_ns = ++time_ns, .ip_bytes = ip, .wire_bytes = wire, .tcp_flags = 1u << round % 9};
      expected.add(packet);
      count_one(table, facts_of(key, 42, packet));
    }
  EXPECT_EQ(Expected::of(*find(table, key)), expected);
}

TEST_P(FlowTables, AWildWireLengthHarmsNoCounterHoweverFullTheFlowsWordIs) {
  for (const std::uint64_t before : {0ull, 1ull, 100ull, 8000ull, 8191ull})
    for (const std::uint32_t wire : {200'000u, 0x7FFF'FFFFu, 0x7FFC'0000u, 0x7000'0000u}) {
      EndedRecords ended;
      const auto made = make(16, {}, ended);
      AnyTable& table = *made;
      Expected expected;
      const FlowKey key = key_of(1, false);
      for (std::uint64_t i = 0; i <= before + 1; ++i) {
        const PacketSpec packet{.time_ns = i, .ip_bytes = 46, .wire_bytes = i == before ? wire : 60u, .tcp_flags = 2};
        expected.add(packet);
        count_one(table, facts_of(key, 42, packet));
      }
      EXPECT_EQ(Expected::of(*find(table, key)), expected) << wire << " bytes after " << before << " packets";
    }
}

TEST_P(FlowTables, AllNineFlagBitsAreKeptAndNoMore) {
  EndedRecords ended;
  const auto made = make(16, {}, ended);
  AnyTable& table = *made;
  for (unsigned bit = 0; bit < 9; ++bit) {
    const FlowKey key = key_of(bit, false);
    count_one(table, facts_of(key, SplitMix64::mix(bit), {.tcp_flags = 1u << bit}));
    count_one(table, facts_of(key, SplitMix64::mix(bit), {.tcp_flags = 0xFE00}));
    EXPECT_EQ(find(table, key)->tcp_flags, 1u << bit);
  }
}

TEST_P(FlowTables, LatePacketsMoveTheFirstTimeAndNeverTheLastBackward) {
  EndedRecords ended;
  const auto made = make(16, {}, ended);
  AnyTable& table = *made;
  const FlowKey key = key_of(1, false);
  for (const std::uint64_t time_ns : {500u, 700u, 300u, 600u, 0u, 701u, 1u})
    count_one(table, facts_of(key, 42, {.time_ns = time_ns}));
  const auto record = find(table, key);
  EXPECT_EQ(record->first_ns, 0u);
  EXPECT_EQ(record->last_ns, 701u);
  EXPECT_EQ(record->packets, 7u);
}

TEST_P(FlowTables, WithoutTimeoutsNoJumpInTimeEndsARecord) {
  EndedRecords ended;
  const auto made = make(16, {}, ended);
  AnyTable& table = *made;
  for (const std::uint64_t time_ns : {0ull, 1ull << 62, (1ull << 63) + (1ull << 62) + 5, 1ull, ~0ull, 0ull, ~0ull})
    count_one(table, facts_of(key_of(1), 42, {.time_ns = time_ns}));
  EXPECT_EQ(ended.all.size(), 0u);
  EXPECT_EQ(find(table, key_of(1))->packets, 7u);
}

TEST_P(FlowTables, SlotNumbersNeverReachTheBitThatMarksNewFlowsNorTheOneOfPacketsKeptOut) {
  EXPECT_LT(GetParam().most_slots, std::uint64_t{1} << 32);
}

TEST_P(FlowTables, KeepOutWhatTheFilterDoesAndCountTheFlowsThatTheyHave) {
  EndedRecords ended;
  const auto made = make(16, {}, ended);
  AnyTable& table = *made;
  FloodFilter filter(128);
  const auto packet = [&](std::uint64_t flow) {
    return count_one(table, facts_of(key_of(flow), SplitMix64::mix(flow), {.wire_bytes = 60}));
  };
  EXPECT_FALSE(packet(1).is_kept_out());
  table.filter_by(&filter);
  EXPECT_FALSE(packet(1).is_kept_out()) << "it has been there before";
  EXPECT_TRUE(packet(2).is_kept_out());
  EXPECT_TRUE(packet(2).is_kept_out());
  EXPECT_TRUE(packet(4).is_kept_out());
  EXPECT_FALSE(find(table, key_of(2)));
  const SlotRef in = packet(2);
  EXPECT_FALSE(in.is_kept_out());
  EXPECT_TRUE(in.is_new());
  EXPECT_EQ(table.begun(), 2u);
  table.filter_by(nullptr);
  EXPECT_TRUE(packet(4).is_new());
  EXPECT_EQ(table.begun(), 3u);
  EXPECT_EQ(find(table, key_of(1))->packets, 2u);
  EXPECT_EQ(find(table, key_of(2))->packets, 1u);
  EXPECT_EQ(filter.kept().packets, 3u);
}

template <class Table>
struct LineTables : ::testing::Test {};
TYPED_TEST_SUITE(LineTables, BucketedTables);

TYPED_TEST(LineTables, TheLineOfAFlowFollowsTheHighBitsOfItsHash) {
  EndedRecords ended;
  TypeParam table(1000, {}, ended);
  const std::size_t lines = TypeParam::lines_for(1000);
  for (std::uint32_t line = 0; line < lines; line += 7) {
    const FlowKey key = key_of(line, false);
    const SlotRef slot = count_one(table, facts_of(key, hash_for_line(line, lines, line)));
    EXPECT_EQ(slot.slot() / (table.slots() / lines), line);
  }
}

TEST(ExactTable, FlowsWithEqualHashesStayApart) {
  EndedRecords ended;
  ExactTable table(64, {}, ended);
  for (int round = 1; round <= 3; ++round) {
    for (std::uint64_t flow = 0; flow < 30; ++flow)
      count_one(table, facts_of(key_of(flow, flow % 2 == 0), 0xABCDEF0123456789));
    for (std::uint64_t flow = 0; flow < 30; ++flow) {
      ASSERT_TRUE(find(table, key_of(flow, flow % 2 == 0)));
      ASSERT_EQ(find(table, key_of(flow, flow % 2 == 0))->packets, static_cast<std::uint64_t>(round));
    }
  }
  EXPECT_EQ(ended.all.size(), 0u);
}

TEST(ExactTable, Ipv6FlowsThatDifferInOneAddressBitAndHaveEqualHashesStayApart) {
  EndedRecords ended;
  ExactTable table(300, {}, ended);
  std::vector<FlowKey> keys;
  for (unsigned bit = 0; bit < 256; bit += 9) {
    FlowKey key = key_of(1, true);
    key.address[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    keys.push_back(key);
  }
  for (const FlowKey& key : keys) count_one(table, facts_of(key, 77));
  for (const FlowKey& key : keys) ASSERT_EQ(find(table, key)->packets, 1u);
}

TEST(ExactTable, AnIpv4KeyWhoseBytesEqualAnIpv6HeadStaysApart) {
  EndedRecords ended;
  ExactTable table(64, {}, ended);
  const FlowKey six = key_of(4, true);
  FlowKey four = six;
  four.ip_version = 4;
  const std::uint64_t hash = 0x0102030405060708;
  std::memcpy(four.address.data(), &hash, 8);  // what the table keeps of the IPv6 addresses
  count_one(table, facts_of(six, hash));
  count_one(table, facts_of(four, hash));
  count_one(table, facts_of(six, hash));
  EXPECT_EQ(find(table, six)->packets, 2u);
  EXPECT_EQ(find(table, four)->packets, 1u);
}

/// With a tag space made small on purpose, the merges that happen can be counted.
TEST(FingerprintTable, AsManyFlowsAreMergedAsTagAndPairOfLinesExplain) {
  constexpr std::size_t kFlows = 20'000;
  constexpr unsigned kTagBits = 6;
  double merged = 0, expected = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    EndedRecords ended;
    FingerprintTable table(kFlows, {}, ended);
    for (std::uint64_t flow = 0; flow < kFlows; ++flow) {
      const std::uint64_t hash = SplitMix64::mix(seed << 32 ^ flow) & ~0xFFFF'FFFFull;
      count_one(table, facts_of(key_of(flow, false), hash | (SplitMix64::mix(hash ^ flow) & ((1u << kTagBits) - 1))));
    }
    ASSERT_EQ(ended.all.size(), 0u);
    merged += static_cast<double>(kFlows - table.size());
    // A packet looks at its home line and at the other of the pair.
    expected += kFlows * static_cast<double>(kFlows) /
                (std::ldexp(1.0, kTagBits) * static_cast<double>(FingerprintTable::lines_for(kFlows)));
  }
  RecordProperty("merged_to_expected", std::to_string(merged / expected));
  EXPECT_NEAR(merged / expected, 1, 0.1) << merged << " merged, " << expected << " expected";
}

}  // namespace
}  // namespace parshall
