// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "../resident_bytes.hpp"
#include "facts.hpp"
#include "tables.hpp"

namespace parshall {
namespace {

using namespace testing;

template <class Table>
struct FullTables : ::testing::Test {
  static constexpr std::size_t kFlows = 200;

  EndedRecords ended;
  Table table{kFlows, {}, ended};
  std::size_t lines = Table::lines_for(kFlows);
  std::uint32_t slots_per_line = static_cast<std::uint32_t>(Table::slots_for(kFlows) / lines);
  std::uint64_t next_flow = 0;
  std::uint64_t time_ns = 1000;

  struct Flow {
    FlowKey key;
    std::uint64_t hash;
    std::uint32_t slot;
  };
  /// Starts a flow whose home is `line`; alternately IPv4 and IPv6.
  Flow start(std::uint32_t line) {
    const std::uint64_t number = next_flow++;
    Flow flow{key_of(number, number % 2 != 0),
              hash_for_line(line, lines, static_cast<std::uint32_t>(SplitMix64::mix(number))), 0};
    const SlotRef slot = count_one(table, facts_of(flow.key, flow.hash, {.time_ns = ++time_ns}));
    EXPECT_TRUE(slot.is_new());
    flow.slot = slot.slot();
    return flow;
  }
  /// One more packet; true when it met its own flow.
  bool again(const Flow& flow) {
    const SlotRef slot = count_one(table, facts_of(flow.key, flow.hash, {.time_ns = ++time_ns}));
    return !slot.is_new() && slot.slot() == flow.slot;
  }
  std::uint32_t line_of(const Flow& flow) const { return flow.slot / slots_per_line; }
};
TYPED_TEST_SUITE(FullTables, BucketedTables);

TYPED_TEST(FullTables, FlowsThatTheirHomeLineHasNoRoomForAreFoundInTheLinesInReach) {
  std::vector<typename TestFixture::Flow> flows;
  for (std::uint32_t i = 0; i < TypeParam::kReach * this->slots_per_line; ++i) flows.push_back(this->start(5));
  EXPECT_EQ(this->ended.all.size(), 0u);
  for (const auto& flow : flows) {
    EXPECT_EQ(this->line_of(flow) / TypeParam::kReach, 5 / TypeParam::kReach);
    EXPECT_TRUE(this->again(flow));
  }
  EXPECT_EQ(this->line_of(flows.front()), 5u);
}

TYPED_TEST(FullTables, DisplacedFlowsAreFoundAgainAfterTheirHomeLineWasEmptied) {
  TypeParam timed(200, {.idle_ns = 1000}, this->ended);
  const auto all_lines = TypeParam::lines_for(200);
  std::vector<PacketFacts> flows;
  for (std::uint32_t i = 0; i < 6 * this->slots_per_line; ++i) {
    const std::uint64_t hash = hash_for_line(20, all_lines, static_cast<std::uint32_t>(SplitMix64::mix(i)));
    flows.push_back(facts_of(key_of(i, i % 2 != 0), hash, {.time_ns = i < this->slots_per_line ? 1000u : 2500u}));
    count_one(timed, flows.back());
  }
  timed.sweep(2600, static_cast<std::uint32_t>(all_lines));  // ends what lives in the home line: the oldest
  timed.sweep(2600, 0);
  ASSERT_EQ(this->ended.all.size(), this->slots_per_line);
  for (std::uint32_t i = this->slots_per_line; i < flows.size(); ++i) {
    const SlotRef slot = count_one(timed, flows[i]);
    ASSERT_FALSE(slot.is_new()) << "flow " << i << " was lost behind the gap";
  }
  EXPECT_EQ(timed.size(), flows.size() - this->slots_per_line);
}

TYPED_TEST(FullTables, OnceAllDisplacedFlowsHaveEndedTheirHomeWorksAsIfNew) {
  TypeParam timed(200, {.idle_ns = 1000}, this->ended);
  const auto all_lines = static_cast<std::uint32_t>(TypeParam::lines_for(200));
  for (std::uint64_t round = 0; round < 50; ++round) {
    const std::uint64_t now = 10'000 * (round + 1);
    for (std::uint64_t i = 0; i < 10; ++i) {
      const std::uint64_t flow = round * 10 + i;
      const auto facts =
          facts_of(key_of(flow, false), hash_for_line(7, all_lines, static_cast<std::uint32_t>(SplitMix64::mix(flow))),
                   {.time_ns = now});
      ASSERT_TRUE(count_one(timed, facts).is_new());
      ASSERT_FALSE(count_one(timed, facts).is_new());
    }
    timed.sweep(now + 5000, all_lines);
    timed.sweep(now + 5000, 0);
    ASSERT_EQ(timed.size(), 0u);
  }
}

TYPED_TEST(FullTables, AFullNeighbourhoodEndsTheLeastRecentlySeenFlowOfTheHomePairOfLines) {
  std::vector<typename TestFixture::Flow> flows;
  for (std::uint32_t i = 0; i < TypeParam::kReach * this->slots_per_line; ++i) flows.push_back(this->start(5));
  // Each flow of the pair of lines 4, 5 in turn is left untouched and has to go.
  for (std::uint32_t slot = 4 * this->slots_per_line; slot < 6 * this->slots_per_line; ++slot) {
    const auto victim = std::ranges::find(flows, slot, &TestFixture::Flow::slot);
    ASSERT_NE(victim, flows.end());
    for (const auto& flow : flows)
      if (flow.slot != slot) {
        ASSERT_TRUE(this->again(flow)) << "another flow went with the victim";
      }
    const std::size_t ended_before = this->ended.all.size();
    const auto late = this->start(5);
    ASSERT_EQ(this->ended.all.size(), ended_before + 1);
    const auto& gone = this->ended.all.back();
    ASSERT_EQ(text_of(gone.record.key), text_of(victim->key));
    ASSERT_EQ(gone.record.end_reason, EndReason::lack_of_resources);
    ASSERT_EQ(gone.slot, slot);
    ASSERT_EQ(late.slot, slot);
    ASSERT_EQ(this->table.size(), flows.size());
    *victim = late;
  }
}

TYPED_TEST(FullTables, TheTableNeverHoldsMoreFlowsThanItsCapacity) {
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < TestFixture::kFlows; ++i) this->start(0);  // one neighbourhood: the others stay empty
  for (std::uint32_t line = 0; line < this->lines; ++line) {
    this->start(line);
    most = std::max(most, this->table.size());
  }
  EXPECT_LE(most, TestFixture::kFlows);
}

struct CrowdedTables : EveryTable {
  EndedRecords ended;
};
INSTANTIATE_TEST_SUITE_P(All, CrowdedTables, ::testing::ValuesIn(table_kinds()), EveryTable::name_of);

TEST_P(CrowdedTables, ATableOfOneFlowHoldsOneFlow) {
  const auto made = make(1, {}, ended);
  AnyTable& single = *made;
  for (std::uint64_t flow = 0; flow < 1000; ++flow) {
    ASSERT_TRUE(count_one(single, facts_of(key_of(flow), SplitMix64::mix(flow), {.time_ns = flow})).is_new());
    ASSERT_EQ(single.size(), 1u);
    ASSERT_EQ(ended.all.size(), flow);
  }
}

TEST_P(CrowdedTables, RecordsOfAFullTableSayWhyTheyEnded) {
  const auto made = make(200, {}, ended);
  AnyTable& crowded = *made;
  for (std::uint64_t flow = 0; flow < 1000; ++flow) {
    count_one(crowded, facts_of(key_of(flow), SplitMix64::mix(flow + 1), {.time_ns = flow}));
    ASSERT_LE(crowded.size(), 200u);
  }
  ASSERT_GE(ended.all.size(), 800u);
  for (const auto& one : ended.all) ASSERT_EQ(one.record.end_reason, EndReason::lack_of_resources);
}

struct CountingSink final : FlowSink {
  std::uint64_t records = 0, packets = 0;
  void flow_ended(FlowRecord& record, std::uint32_t, std::size_t) noexcept override {
    ++records;
    packets += record.packets;
  }
};

TEST_P(CrowdedTables, AFloodOfNewFlowsTakesNoMoreMemoryThanPromised) {
  constexpr std::size_t kCapacity = 16'384;
  CountingSink sink;
  const std::size_t before = resident_bytes();
  const auto made = make(kCapacity, {}, sink);
  AnyTable& flooded = *made;
  const std::uint64_t packets = 1'000'000;
  std::size_t half_way = 0;
  for (std::uint64_t flow = 0; flow < packets; ++flow) {
    count_one(flooded, facts_of(key_of(flow), SplitMix64::mix(flow + 1), {.time_ns = flow}));
    if (flow == packets / 2) half_way = resident_bytes();
  }
  constexpr std::size_t kPageSlack = 6 * (std::size_t{2} << 20);  // each array may round up to a 2 MB page
  EXPECT_EQ(sink.packets + live_packets(flooded), packets);
  EXPECT_LE(resident_bytes(), half_way + kPageSlack / 6) << "memory grows";
  if (kSanitized) return;
  EXPECT_LE(half_way, before + GetParam().memory_bytes(kCapacity) + kPageSlack);
}

}  // namespace
}  // namespace parshall
