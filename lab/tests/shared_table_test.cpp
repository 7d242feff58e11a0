// SPDX-License-Identifier: Apache-2.0
#include "lab/contention/shared_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <vector>

#include "base/figures/harness.hpp"
#include "lab/contention/shared_array.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kThreads = 3;
const LabHasher kHasher{KeyedHash(1)};

/// Brings threads to one point at the same time.
class Barrier {
 public:
  void arrive() noexcept {
    const std::size_t before = arrived_.fetch_add(1);
    while (arrived_.load() < (before / kThreads + 1) * kThreads) std::this_thread::yield();
  }

 private:
  std::atomic<std::size_t> arrived_{0};
};

/// Every thread counts one packet of each flow, all flows in the same order, in each lap; laps begin with an empty
/// table. `check(rejected)` sees the table after each lap.
template <class Table, class Check>
void stress(Table& table, std::uint32_t flows, int laps, Check check) {
  Barrier barrier;
  std::atomic<std::uint64_t> rejected{0};
  const auto count = [&] {
    for (std::uint32_t flow = 0; flow < flows; ++flow) {
      const LabKey<16> key = key_of<16>(flow);
      if (!table.add(kHasher(key), key)) rejected.fetch_add(1, std::memory_order_relaxed);
    }
  };
  const auto work = [&](bool first) {
    for (int lap = 0; lap < laps; ++lap) {
      barrier.arrive();
      count();
      barrier.arrive();
      if (!first) continue;
      check(rejected.exchange(0));
      table.clear();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < kThreads; ++i) threads.emplace_back(work, false);
  work(true);
}

/// Packets counted, by flow; expects that none is there twice.
template <class Table>
std::vector<std::uint64_t> counts_of(const Table& table, std::uint32_t flows) {
  std::vector<std::uint64_t> counts(flows), slots(flows);
  table.each([&](const auto& slot) {
    const std::uint32_t flow = flow_of(slot.key);
    ASSERT_LT(flow, flows) << "a key that nobody sent";
    ASSERT_TRUE(slot.key == key_of<16>(flow));
    counts[flow] += slot.packets;
    ++slots[flow];
    EXPECT_EQ(table.packets(kHasher(slot.key), slot.key), slot.packets);
  });
  EXPECT_THAT(slots, ::testing::Each(::testing::Le(1u))) << "a flow in two slots";
  return counts;
}

template <class Update>
class SharedTables : public ::testing::Test {};
using SharedUpdates = ::testing::Types<CompareExchange, FetchAdd, Racy>;
TYPED_TEST_SUITE(SharedTables, SharedUpdates);

TYPED_TEST(SharedTables, StartAFlowOnceThoughAllThreadsComeAtOnce) {
  constexpr std::uint32_t kFlows = 512;
  SharedTable<TypeParam> table(kFlows);
  stress(table, kFlows, 300, [&](std::uint64_t rejected) {
    ASSERT_EQ(rejected, 0u);
    ASSERT_EQ(table.size(), kFlows);
    const auto counts = counts_of(table, kFlows);
    if constexpr (std::is_same_v<TypeParam, Racy>)
      ASSERT_THAT(counts, ::testing::Each(::testing::AllOf(::testing::Ge(1u), ::testing::Le(kThreads))));
    else
      ASSERT_THAT(counts, ::testing::Each(kThreads));
  });
}

TYPED_TEST(SharedTables, RejectWhatHasNoRoomAndCountEveryOtherPacket) {
  constexpr std::uint32_t kFlows = 100;
  SharedTable<TypeParam> table(20);  // 64 slots
  stress(table, kFlows, 100, [&](std::uint64_t rejected) {
    ASSERT_EQ(table.size(), table.places());
    ASSERT_EQ(rejected, kThreads * (kFlows - table.places())) << "a flow has room for all threads or for none";
    if constexpr (std::is_same_v<TypeParam, Racy>) return;
    std::uint64_t counted = 0;
    for (const std::uint64_t count : counts_of(table, kFlows)) counted += count;
    ASSERT_EQ(counted + rejected, kThreads * kFlows);
  });
}

TYPED_TEST(SharedTables, AnArrayCountsEveryPacketOfAllThreads) {
  constexpr std::uint32_t kFlows = 512;
  SharedArray<TypeParam> array(kFlows / 8);  // so that flows share places
  Barrier barrier;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        barrier.arrive();
        for (std::uint32_t packet = 0; packet < 100 * kFlows; ++packet) {
          const LabKey<8> key = key_of<8>(packet % kFlows);
          array.add(kHasher(key), key);
        }
      });
  }
  std::map<std::size_t, std::uint64_t> by_place;
  for (std::uint32_t flow = 0; flow < kFlows; ++flow) {
    const LabKey<8> key = key_of<8>(flow);
    by_place[array.place(kHasher(key))] = array.packets(kHasher(key), key);
  }
  std::uint64_t counted = 0;
  for (const auto& [place, packets] : by_place) counted += packets;
  EXPECT_LT(by_place.size(), kFlows);
  if constexpr (std::is_same_v<TypeParam, Racy>)
    EXPECT_LE(counted, kThreads * 100 * kFlows);
  else
    EXPECT_EQ(counted, kThreads * 100 * kFlows);
}

/// All threads on one count.
template <class Update>
std::uint64_t lost_on_one_flow(std::uint64_t packets) {
  SharedTable<Update> table(1);
  Barrier barrier;
  const LabKey<16> key = key_of<16>(7);
  const auto count = [&] {
    barrier.arrive();
    for (std::uint64_t i = 0; i < packets; ++i) table.add(kHasher(key), key);
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back(count);
  }
  return kThreads * packets - table.packets(kHasher(key), key);
}

TEST(SharedTableUpdates, LoseNothingWhereTheyAreAtomic) {
  EXPECT_EQ(lost_on_one_flow<CompareExchange>(300'000), 0u);
  EXPECT_EQ(lost_on_one_flow<FetchAdd>(300'000), 0u);
}

TEST(SharedTableUpdates, LosePacketsWhereTheyAreRacy) {
  // On one core two updates meet only where one is preempted between its load and its store: too rare to be waited for.
  if (OnOneCore().others().empty()) GTEST_SKIP() << "this process may use one core: updates do not meet";
  // Beside other programs it may take a while until both threads run at once.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::uint64_t lost = 0;
  while (lost == 0 && std::chrono::steady_clock::now() < until) lost = lost_on_one_flow<Racy>(300'000);
  EXPECT_GT(lost, 0u);
}

TEST(SharedTable, MergesTablesOfAnyUpdate) {
  SharedTable<Single> first(10), merged(20);
  SharedTable<FetchAdd> second(10);
  const auto add = [](auto& table, std::uint32_t flow, std::uint64_t packets) {
    ASSERT_TRUE(table.add(kHasher(key_of<16>(flow)), key_of<16>(flow), packets));
  };
  for (std::uint32_t flow = 0; flow < 10; ++flow) add(first, flow, 1), add(second, flow + 5, 100);
  EXPECT_EQ(merged.merge(first), 0u);
  EXPECT_EQ(merged.merge(second), 0u);
  EXPECT_THAT(counts_of(merged, 15),
              ::testing::ElementsAre(1, 1, 1, 1, 1, 101, 101, 101, 101, 101, 100, 100, 100, 100, 100));
  SharedTable<Single> small(1);
  EXPECT_EQ(small.merge(second), 800u) << "two slots for ten flows of 100 packets";
}

}  // namespace
}  // namespace parshall::lab
