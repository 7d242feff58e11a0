// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/windows/row_pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <set>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

constexpr std::size_t kRows = 100, kMeasured = 24;

std::uint32_t append(RowPool& pool, RowList& list, std::uint64_t number) {
  const std::uint32_t at = pool.append(list);
  if (at == RowPool::kNone) return at;
  pool.row(at) = {.packets = 1, .first_ns = number};
  std::memcpy(pool.row(at).measured(), &number, sizeof number);
  pool.key(at) = {};
  pool.key(at).address[0] = static_cast<std::uint8_t>(number);
  return at;
}

std::vector<std::uint64_t> numbers_in(const RowPool& pool, const RowList& list) {
  std::vector<std::uint64_t> numbers;
  pool.visit(list, [&](const WindowRow& row, const FlowKey& key) {
    std::uint64_t measured;
    std::memcpy(&measured, row.measured(), sizeof measured);
    EXPECT_EQ(measured, row.first_ns);
    EXPECT_EQ(key.address[0], static_cast<std::uint8_t>(row.first_ns));
    numbers.push_back(row.first_ns);
  });
  return numbers;
}

TEST(RowPool, HasRoomForAsManyRowsAsAskedAndKeepsTheirOrder) {
  RowPool pool(kRows, kMeasured);
  RowList list;
  std::vector<std::uint64_t> numbers;
  while (append(pool, list, numbers.size()) != RowPool::kNone) numbers.push_back(numbers.size());
  EXPECT_GE(numbers.size(), kRows);
  EXPECT_LT(numbers.size(), kRows + 5 * pool.chunk_rows());
  EXPECT_EQ(numbers_in(pool, list), numbers);
  pool.drop(list);
  EXPECT_TRUE(list.empty());
  std::size_t again = 0;
  while (append(pool, list, again) != RowPool::kNone) ++again;
  EXPECT_EQ(again, numbers.size());
}

TEST(RowPool, CompactingKeepsWhatIsKeptAndHandsOverTheRest) {
  RowPool pool(kRows, kMeasured);
  RowList list;
  std::multiset<std::uint64_t> all, found;
  for (std::uint64_t i = 0; append(pool, list, i) != RowPool::kNone; ++i) all.insert(i);
  for (std::uint64_t seed = 1; pool.can_compact(list) && seed < 200; ++seed) {
    SplitMix64 random(seed);
    RowList others = pool.compact(
        list, [&](std::uint32_t) { return random.below(2) == 0; },
        [&](std::uint32_t from, std::uint32_t to) { EXPECT_NE(from, to); });
    for (const std::uint64_t number : numbers_in(pool, others)) found.insert(number);
    pool.consume(
        others, [](const WindowRow&, const FlowKey&) {}, [] {});
  }
  for (const std::uint64_t number : numbers_in(pool, list)) found.insert(number);
  EXPECT_EQ(found, all);
}

/// One thread appends, another reads and gives back: no row is overwritten before it is read.
TEST(RowPool, IsPassedBetweenTwoThreads) {
  RowPool pool(kRows, kMeasured);
  SpscRing<RowList> lists(8);
  constexpr std::uint64_t kAllRows = 300'000;
  std::thread reader([&] {
    std::uint64_t next = 0;
    for (; next != kAllRows; std::this_thread::yield())
      for (const RowList& list : lists.readable(1)) {
        pool.consume(
            list,
            [&](const WindowRow& row, const FlowKey& key) {
              ASSERT_EQ(row.first_ns, next);
              ASSERT_EQ(key.address[0], static_cast<std::uint8_t>(next));
              ++next;
            },
            [] {});
        lists.release(1);
      }
  });
  RowList list;
  for (std::uint64_t i = 0; i < kAllRows;) {
    const bool is_full = append(pool, list, i) == RowPool::kNone;
    i += !is_full;
    if (list.empty() || (!is_full && i % 37 != 0 && i != kAllRows)) continue;
    while (lists.writable(1).empty()) std::this_thread::yield();
    lists.writable(1).front() = std::exchange(list, {});
    lists.publish(1);
  }
  reader.join();
}

}  // namespace
}  // namespace parshall
