// SPDX-License-Identifier: Apache-2.0
// A table that starts small and doubles in place holds, at every size, what one of full size holds.
#include <gtest/gtest.h>

#include <set>
#include <unordered_map>

#include "facts.hpp"
#include "tables.hpp"

namespace parshall {
namespace {

using namespace testing;

template <class Table>
class GrowingTables : public ::testing::Test {
 public:
  static constexpr std::size_t kFlows = 150'000;
  const FlowIdentity identity{KeyFields::five_tuple, Identity::exact, 20261121};

  PacketFacts packet_of(std::uint64_t flow, const PacketSpec& spec) const {
    const FlowKey key = key_of(flow);
    return facts_of(key, identity.hash(key), spec);
  }
};
TYPED_TEST_SUITE(GrowingTables, BucketedTables);

TYPED_TEST(GrowingTables, EveryFlowKeepsItsCountersThroughEveryDoubling) {
  EndedRecords ended;
  TypeParam table(TestFixture::kFlows, {}, ended, {.grow_by = &this->identity});
  const std::uint32_t first_slots = table.slots();
  std::unordered_map<std::uint64_t, Expected> expected;
  SplitMix64 random(7);
  std::uint32_t sizes = 1, slots = first_slots;
  for (std::uint64_t n = 0, newest = 0; newest < TestFixture::kFlows; ++n) {
    const bool is_new = random.below(3) == 0;
    const std::uint64_t flow = is_new ? newest++ : random.below(newest + 1);
    // Late packets, wide ones, and flows long enough to spill.
    const PacketSpec spec{.time_ns = 1'000'000 + n - random.below(100),
                          .ip_bytes = static_cast<std::uint32_t>(20 + random.below(65'000)),
                          .wire_bytes = static_cast<std::uint32_t>(random.below(100'000)),
                          .tcp_flags = static_cast<std::uint16_t>(1u << random.below(9))};
    if (flow >= newest) continue;
    expected[flow].add(spec);
    ASSERT_EQ(count_one(table, this->packet_of(flow, spec)).is_new(), is_new);
    ASSERT_GE(table.slots(), slots);
    sizes += table.slots() != slots;
    slots = table.slots();
  }
  EXPECT_EQ(sizes, 4u) << "16 Ki flows and three doublings make room for 150,000";
  EXPECT_GE(table.slots(), 2 * TestFixture::kFlows);
  EXPECT_LE(table.slots(), TypeParam::slots_for(TestFixture::kFlows));
  EXPECT_TRUE(ended.all.empty());
  EXPECT_EQ(table.size(), expected.size());
  std::unordered_map<std::string, Expected> by_key;
  for (const auto& [flow, counts] : expected) by_key[text_of(key_of(flow))] = counts;
  for (std::uint32_t slot = 0; slot < table.slots(); ++slot) {
    if (!table.occupied(slot)) continue;
    const auto found = by_key.find(text_of(table.key(slot)));
    ASSERT_NE(found, by_key.end()) << "an invented or doubled flow";
    ASSERT_EQ(Expected::of(table.record(slot)), found->second);
    by_key.erase(found);
  }
  EXPECT_TRUE(by_key.empty());
}

TYPED_TEST(GrowingTables, SettleMakesItAsLargeAsItWillEverBe) {
  EndedRecords ended;
  TypeParam table(TestFixture::kFlows, {}, ended, {.grow_by = &this->identity});
  for (std::uint64_t flow = 0; flow < 1000; ++flow) count_one(table, this->packet_of(flow, {.time_ns = flow}));
  table.settle();
  EXPECT_EQ(table.slots(), TypeParam::slots_for(TestFixture::kFlows));
  std::multiset<std::string> held;
  for (std::uint32_t slot = 0; slot < table.slots(); ++slot)
    if (table.occupied(slot)) held.insert(text_of(table.key(slot)));
  for (std::uint64_t flow = 0; flow < 1000; ++flow) {
    ASSERT_EQ(held.count(text_of(key_of(flow))), 1u) << flow;
    ASSERT_FALSE(count_one(table, this->packet_of(flow, {.time_ns = flow})).is_new());
  }
  EXPECT_EQ(table.size(), 1000u);
}

TYPED_TEST(GrowingTables, WithAllItsFlowsItEvictsLikeAnyOther) {
  EndedRecords ended;
  TypeParam table(TestFixture::kFlows, {}, ended, {.grow_by = &this->identity});
  constexpr std::uint64_t kMore = 10'000;
  for (std::uint64_t flow = 0; flow < TestFixture::kFlows + kMore; ++flow)
    count_one(table, this->packet_of(flow, {.time_ns = flow}));
  EXPECT_EQ(table.size(), TestFixture::kFlows);
  EXPECT_EQ(ended.all.size(), kMore);
  const std::uint32_t slots = table.slots();
  EXPECT_GE(slots, 2 * TestFixture::kFlows);
  table.settle();
  EXPECT_EQ(table.slots(), TypeParam::slots_for(TestFixture::kFlows));
  EXPECT_EQ(table.size(), TestFixture::kFlows);
}

/// Counts `flows` flows whose home is in the first of `blocks` blocks.
template <class Test, class Table>
void crowd_first_block(const Test& test, Table& table, std::uint64_t blocks, std::uint64_t flows) {
  for (std::uint64_t flow = 0, put = 0; put < flows; ++flow) {
    PacketFacts facts = facts_of(key_of(flow), test.identity.hash(key_of(flow)), {.time_ns = flow});
    if (facts.hash >> 32 >= (1ull << 32) / blocks) continue;
    count_one(table, facts);
    ++put;
  }
}

TYPED_TEST(GrowingTables, AFullBlockMakesItGrowBeforeItEvicts) {
  EndedRecords ended;
  TypeParam table(TestFixture::kFlows, {}, ended, {.grow_by = &this->identity});
  const std::uint32_t slots = table.slots();
  const std::uint64_t block_slots = TypeParam::slots_for(1000) / TypeParam::lines_for(1000) * TypeParam::kReach;
  crowd_first_block(*this, table, slots / block_slots, block_slots);
  EXPECT_EQ(table.slots(), slots);
  crowd_first_block(*this, table, slots / block_slots, block_slots + 1);  // the same ones, and one more
  EXPECT_EQ(table.slots(), 2 * slots);
  EXPECT_EQ(table.size(), block_slots + 1);
  EXPECT_TRUE(ended.all.empty());
}

TYPED_TEST(GrowingTables, ATableOfNearlyTheSmallestSizeGrowsWhereItCanAndThenEvicts) {
  const std::size_t least = TypeParam::slots_for(16'384);
  std::size_t larger = 16'384;  // the smallest that grows
  while (TypeParam::slots_for(larger) == least) ++larger;
  ASSERT_EQ(TypeParam::slots_for(larger), 2 * least);
  for (const std::size_t flows : {std::size_t{1000}, std::size_t{16'384}, larger - 1, larger, larger + 1000}) {
    SCOPED_TRACE(flows);
    EndedRecords ended;
    TypeParam table(flows, {}, ended, {.grow_by = &this->identity});
    const std::uint64_t block_slots = TypeParam::slots_for(1000) / TypeParam::lines_for(1000) * TypeParam::kReach;
    ASSERT_EQ(table.slots(), std::min(least, TypeParam::slots_for(flows)));
    crowd_first_block(*this, table, TypeParam::slots_for(flows) / block_slots, block_slots + 5);
    EXPECT_EQ(table.slots(), TypeParam::slots_for(flows));
    EXPECT_EQ(ended.all.size(), 5u);
  }
}

TYPED_TEST(GrowingTables, WhatIsDoneMeanwhileIsDoneOnceForEachPacket) {
  EndedRecords ended;
  TypeParam table(TestFixture::kFlows, {}, ended, {.grow_by = &this->identity});
  const std::uint32_t first_slots = table.slots();
  std::vector<PacketFacts> packets;
  for (std::uint64_t flow = 0; flow < 40'000; ++flow) packets.push_back(this->packet_of(flow, {.time_ns = flow}));
  std::vector<SlotRef> slots(packets.size());
  std::size_t done = 0;
  table.update(packets, slots, [&, ask = table.prefetcher()](std::size_t i) {
    ASSERT_EQ(i, done++);
    ask(packets[packets.size() - 1 - i].hash);
  });
  EXPECT_EQ(done, packets.size());
  EXPECT_EQ(table.size(), packets.size());
  EXPECT_GT(table.slots(), first_slots);
}

}  // namespace
}  // namespace parshall
