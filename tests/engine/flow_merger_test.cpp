// SPDX-License-Identifier: Apache-2.0
#include "engine/flow_merger.hpp"

#include <gtest/gtest.h>

#include <map>
#include <unordered_map>

#include "base/random.hpp"
#include "engine/interval_bases.hpp"
#include "run.hpp"

namespace parshall {
namespace {

FlowRecord record_of(std::uint64_t number, std::uint64_t packets) {
  FlowRecord record;
  record.key.ip_version = number % 3 == 0 ? 6 : 4;
  record.key.address.fill(static_cast<std::uint8_t>(packets));  // means nothing behind an IPv4 key's addresses
  std::memset(record.key.address.data(), 0, record.key.ip_version == 6 ? 32 : 8);
  std::memcpy(record.key.address.data(), &number, 4);
  record.packets = packets;
  record.first_ns = 1000 + packets;
  return record;
}

TEST(FlowMerger, VisitsEachFlowOnceWithThePacketsOfAllItsRecords) {
  for (const std::uint64_t records : {0u, 1u, 2u, 1000u, 50'000u}) {
    SplitMix64 random(records);
    std::vector<FlowRecord> all;
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> truth;
    for (std::uint64_t i = 0; i < records; ++i) {
      all.push_back(record_of(random() % (records / 3 + 1), random() % 100 + 1));
      auto& [packets, first_ns] = truth.try_emplace(key_text(all.back().key), 0, ~0ull).first->second;
      packets += all.back().packets;
      first_ns = std::min(first_ns, all.back().first_ns);
    }
    FlowMerger merger(records, 7);
    for (int report = 0; report < 2; ++report) {
      std::size_t visited = 0;
      const StatisticSet none;
      merger.merge(
          none, 2 * records,  // every other place is empty
          [&](std::uint64_t place, auto&& use) {
            if (place % 2 == 1) use(all[place / 2], std::span<const std::byte>());
          },
          [&](const FlowRecord& record, std::span<const std::byte> row) {
            ++visited;
            EXPECT_EQ(truth.at(key_text(record.key)), std::pair(record.packets, record.first_ns));
            EXPECT_TRUE(row.empty());
          });
      EXPECT_EQ(visited, truth.size());
    }
  }
}

TEST(IntervalBases, KnowWhatTheReportBeforeSaidAndNothingOlder) {
  constexpr std::uint64_t kFlows = 5000;
  IntervalBases bases(kFlows, 7);
  EXPECT_EQ(bases.find(record_of(1, 1)).packets, 0u);
  std::unordered_map<std::uint64_t, std::uint64_t> before;
  SplitMix64 random(1);
  for (const std::uint64_t flows : {std::uint64_t{3}, kFlows, std::uint64_t{100}, std::uint64_t{0}, kFlows / 2}) {
    std::unordered_map<std::uint64_t, std::uint64_t> now;
    while (now.size() < flows) now[random() % (2 * kFlows)] = random() % 1000 + 1;
    bases.begin_report(flows);
    for (std::uint64_t number = 0; number < 2 * kFlows; ++number) {
      const auto known = before.find(number);
      FlowRecord record = record_of(number, 1);
      ASSERT_EQ(bases.find(record).packets, known == before.end() ? 0 : known->second);
      record.first_ns = ~std::uint64_t{0};  // another record of the flow
      ASSERT_EQ(bases.find(record).packets, 0u);
      if (const auto live = now.find(number); live != now.end()) bases.put(record_of(number, live->second));
    }
    bases.end_report();
    before = std::move(now);
  }
}

TEST(IntervalBases, TakeTheMemorySaid) {
  constexpr std::uint64_t kFlows = 300'000;
  const std::uint64_t before = resident_bytes(), said = IntervalBases::memory_bytes(kFlows);
  IntervalBases bases(kFlows, 7);
  for (int report = 0; report < 2; ++report) {
    bases.begin_report(kFlows);
    for (std::uint64_t i = 0; i < kFlows; ++i) bases.put(record_of(i, 5));
    bases.end_report();
  }
  const std::uint64_t taken = resident_bytes() - before;
  if (!kSanitized) {
    EXPECT_LT(taken, said + (1 << 20));
    EXPECT_GT(taken, said * 9 / 10);
  }
}

TEST(IntervalBases, AreForAsManyFlowsAsATableMayHaveAndNotForItsSlots) {
  EXPECT_EQ(IntervalBases::most_flows(100, 512), 512u);
  EXPECT_LT(IntervalBases::most_flows(1 << 20, 4 << 20), (1u << 20) * 11 / 10);
  SessionOptions options = testing::options_of({.flows = 1 << 20});
  options.snapshots = true;
  const std::uint64_t without = Session::memory_bytes(options, testing::schema_of({})),
                      with = Session::memory_bytes(options, testing::schema_of({"interval_rate_pps"}));
  EXPECT_GT(with, without + (1 << 20) * std::uint64_t{144});
  EXPECT_LT(with, without + (1 << 20) * std::uint64_t{160});
}

TEST(IntervalBases, KeepNoMoreThanTheyWereMadeFor) {
  IntervalBases bases(2, 7);
  bases.begin_report(9);
  for (std::uint64_t i = 0; i < 9; ++i) bases.put(record_of(i, 5));
  bases.end_report();
  std::uint64_t known = 0;
  for (std::uint64_t i = 0; i < 9; ++i) known += bases.find(record_of(i, 5)).packets == 5;
  EXPECT_EQ(known, 2u);
}

}  // namespace
}  // namespace parshall
