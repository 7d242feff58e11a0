// SPDX-License-Identifier: Apache-2.0
#include "lab/tables/value_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lab/tables/tables.hpp"
#include "lab/tables/tasks.hpp"
#include "lab/tables/traffic.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {
namespace {

using Key = LabKey<16>;
const LabHasher kHeapHasher{KeyedHash(1)};

std::vector<std::uint64_t> packets_by_flow(std::span<const std::uint32_t> packets, std::size_t flows) {
  std::vector<std::uint64_t> counts(flows);
  for (const std::uint32_t flow : packets) ++counts[flow];
  return counts;
}

template <class Value>
struct PlayedHeap {
  static constexpr std::size_t kFlows = 5000;

  explicit PlayedHeap(std::size_t keys) : heap(keys) {
    for (const std::uint32_t flow : traffic.packets) {
      const Key key = key_of<16>(flow);
      Value& value = heap.add(kHeapHasher(key), key);
      value.packet(0, tally);
    }
  }
  std::uint64_t packets(std::uint32_t flow) const {
    return heap.packets(kHeapHasher(key_of<16>(flow)), key_of<16>(flow));
  }
  const Value* value(std::uint32_t flow) const { return heap.value(kHeapHasher(key_of<16>(flow)), key_of<16>(flow)); }

  Traffic traffic = random_traffic(kFlows, 0.9, 200'000, 1);
  std::vector<std::uint64_t> truth = packets_by_flow(traffic.packets, kFlows);
  TaskTally tally;
  ValueHeap<Key, Value> heap;
};

template <class Value>
class ValueHeaps : public ::testing::Test {};
using HeapValues = ::testing::Types<CountValue<4>, CountValue<16>, CountValue<64>>;
TYPED_TEST_SUITE(ValueHeaps, HeapValues);

TYPED_TEST(ValueHeaps, AreExactWithAKeyForEachFlow) {
  const PlayedHeap<TypeParam> played(PlayedHeap<TypeParam>::kFlows);
  for (std::uint32_t flow = 0; flow < played.kFlows; ++flow) {
    ASSERT_EQ(played.packets(flow), played.truth[flow]) << flow;
    const TypeParam* value = played.value(flow);
    ASSERT_EQ(value == nullptr ? 0 : value->packets, played.truth[flow]) << flow;
  }
}

TYPED_TEST(ValueHeaps, KeepTheBoundsOfSpaceSavingWithFewerKeys) {
  for (const std::size_t keys : {1, 2, 7, 500}) {
    SCOPED_TRACE(keys);
    const PlayedHeap<TypeParam> played(keys);
    std::uint64_t sum = 0, listed = 0, least = ~std::uint64_t{0};
    for (std::uint32_t flow = 0; flow < played.kFlows; ++flow) {
      const TypeParam* value = played.value(flow);
      ASSERT_GE(played.packets(flow), played.truth[flow]) << flow;
      if (value == nullptr) continue;
      ++listed;
      sum += played.packets(flow);
      least = std::min(least, played.packets(flow));
      ASSERT_GE(value->packets, 1u) << flow;
      ASSERT_LE(value->packets, played.truth[flow]) << flow << ": what it had before it came in is lost";
    }
    EXPECT_EQ(listed, keys);
    EXPECT_EQ(played.heap.size(), keys);
    EXPECT_EQ(sum, played.traffic.packets.size());
    EXPECT_LE(least, played.traffic.packets.size() / keys);
    for (std::uint32_t flow = 0; flow < played.kFlows; ++flow) {
      if (played.value(flow) == nullptr) {
        ASSERT_EQ(played.packets(flow), least) << flow;
        ASSERT_LE(played.truth[flow], played.traffic.packets.size() / keys) << flow;
      } else {
        ASSERT_LE(played.packets(flow), played.value(flow)->packets + least) << flow;
      }
    }
  }
}

TEST(ValueHeap, BeginsTheValueOfAReplacedKeyAnew) {
  ValueHeap<Key, CountValue<8>> heap(2);
  TaskTally tally;
  const auto play = [&](std::uint32_t flow) {
    CountValue<8>& value = heap.add(kHeapHasher(key_of<16>(flow)), key_of<16>(flow));
    value.packet(0, tally);
    return std::pair(heap.packets(kHeapHasher(key_of<16>(flow)), key_of<16>(flow)), value.packets);
  };
  using Both = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(play(1), Both(1, 1));
  EXPECT_EQ(play(1), Both(2, 2));
  EXPECT_EQ(play(2), Both(1, 1));
  EXPECT_EQ(play(3), Both(2, 1)) << "in the place of 2";
  EXPECT_EQ(play(3), Both(3, 2));
  EXPECT_EQ(play(1), Both(3, 3)) << "as it was";
  EXPECT_EQ(play(1), Both(4, 4));
  EXPECT_EQ(play(1), Both(5, 5));
  EXPECT_EQ(play(2), Both(4, 1)) << "in the place of 3";
}

/// All of a table's answers about an epoch.
struct HeapAnswers {
  std::vector<std::uint64_t> counts;
  std::vector<std::uint8_t> reports;
};

HeapAnswers heap_answers(std::string_view table, std::size_t entries, const Shape& shape,
                         std::span<const std::uint32_t> packets) {
  constexpr std::size_t kBatch = 50;
  const auto candidate =
      std::ranges::find(tables_under_test(), table, &TableUnderTest::name)->make(entries, shape, 1, TaskTally());
  for (std::size_t at = 0; at < packets.size(); at += kBatch)
    candidate->run(packets.subspan(at, std::min(kBatch, packets.size() - at)));
  candidate->drain();
  HeapAnswers all{.counts = std::vector<std::uint64_t>(shape.flows), .reports = std::vector<std::uint8_t>(shape.flows)};
  candidate->counts(all.counts);
  candidate->reports(all.reports);
  return all;
}

TEST(ValueHeapCandidate, ReportsWhatThereIsWithAKeyForEachFlow) {
  constexpr std::size_t kFlows = 500;  // of 2,000 packets each: all meet as many destinations as they have
  const Traffic traffic = random_traffic(kFlows, 0, 1 << 20, 1);
  for (const Task task : {Task::superspreader, Task::change})
    for (const std::size_t key_bytes : {8, 16}) {
      SCOPED_TRACE(kTaskNames[static_cast<std::size_t>(task)]);
      const Shape shape{.key_bytes = key_bytes, .task = task, .flows = kFlows};
      const HeapAnswers all = heap_answers("heap-values", kFlows, shape, traffic.packets);
      const std::vector<std::uint8_t> truth = true_reports(task, traffic.packets, kFlows);
      EXPECT_GT(std::ranges::count(truth, 1), 20);
      EXPECT_GT(std::ranges::count(truth, 0), 20);
      EXPECT_EQ(all.reports, truth);
      EXPECT_EQ(all.counts, packets_by_flow(traffic.packets, kFlows));
    }
}

TEST(ValueHeapCandidate, ReportsTheSameAsATableWithAKeyForEachFlow) {
  constexpr std::size_t kFlows = 20'000;
  const Traffic traffic = random_traffic(kFlows, 1.1, 1 << 20, 1);
  for (const Task task : {Task::superspreader, Task::change}) {
    SCOPED_TRACE(kTaskNames[static_cast<std::size_t>(task)]);
    const Shape shape{.task = task, .flows = kFlows};
    const HeapAnswers heap = heap_answers("heap-values", kFlows, shape, traffic.packets),
                      table = heap_answers("unordered-map", kFlows, shape, traffic.packets);
    EXPECT_GT(std::ranges::count(table.reports, 1), 20);
    EXPECT_EQ(heap.reports, table.reports);
    EXPECT_EQ(heap.counts, table.counts);
  }
}

TEST(ValueHeapCandidate, KeepsCountsAboveTheTruthAndReportsNoFlowForAnothersPacketsHoweverFewKeysThereAre) {
  constexpr std::size_t kFlows = 20'000;
  const Traffic traffic = random_traffic(kFlows, 1.1, 1 << 20, 1);
  const std::vector<std::uint64_t> counts = packets_by_flow(traffic.packets, kFlows);
  const std::vector<std::uint8_t> truth = true_reports(Task::superspreader, traffic.packets, kFlows);
  for (const Task task : {Task::superspreader, Task::change})
    for (const std::size_t keys : {1, 100, 5000}) {
      SCOPED_TRACE(keys);
      const HeapAnswers heap = heap_answers("heap-values", keys, {.task = task, .flows = kFlows}, traffic.packets);
      for (std::size_t flow = 0; flow < kFlows; ++flow) {
        ASSERT_GE(heap.counts[flow], counts[flow]) << flow;
        ASSERT_TRUE(task == Task::change || heap.reports[flow] <= truth[flow]) << flow;
      }
      EXPECT_EQ(std::ranges::count(heap.reports, 1) > 0, keys > 1) << "the flows of the most packets stay";
    }
}

TEST(ValueHeapCandidate, IsAsLargeAsItsValues) {
  const TableUnderTest& heap = *std::ranges::find(tables_under_test(), "heap-values", &TableUnderTest::name);
  const auto memory = [&](std::size_t value_bytes) { return heap.memory_bytes(1 << 10, {.value_bytes = value_bytes}); };
  EXPECT_EQ(memory(64) - memory(16), std::size_t{64 - 16} << 10);
  EXPECT_GT(memory(16), memory(4));
}

}  // namespace
}  // namespace parshall::lab
