// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/contention/report.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

TEST(CoreShares, HaveEveryFlowOfSplitTrafficOnceAndAllOfTheSame) {
  const Traffic traffic = random_traffic(1000, 1.1, 10'000, 1);
  std::vector<std::uint64_t> whole(1000), split(1000), seen(1000);
  for (const std::uint32_t flow : traffic.packets) ++whole[flow];
  const auto shares = share_out(traffic, 3, Sharing::split, 1);
  for (const CoreUse& share : shares) {
    EXPECT_GT(share.flows.size(), 250u);
    count_packets(share, share.packets.size(), split);
    for (const std::uint32_t flow : share.flows) ++seen[flow];
  }
  EXPECT_EQ(split, whole);
  EXPECT_THAT(seen, ::testing::Each(1u));
  for (const CoreUse& share : share_out(traffic, 3, Sharing::same, 1)) {
    std::vector<std::uint64_t> counts(1000);
    count_packets(share, share.packets.size(), counts);
    EXPECT_EQ(counts, whole);
    EXPECT_EQ(share.flows.size(), 1000u);
  }
}

std::vector<std::size_t> cores_there_are() {
  return OnOneCore().others().empty() ? std::vector<std::size_t>{1} : std::vector<std::size_t>{1, 2};
}

TEST(Contention, GivesARowForEveryWayOfEveryCase) {
  const ContentionSweep sweep{.flows = {2, 1000},
                              .zipf = {0, 1.1},
                              .sharing = {Sharing::same, Sharing::split},
                              .cores = cores_there_are(),
                              .rounds = 1,
                              .trace_packets = 1 << 14,
                              .epoch_packets = 10'000};
  std::size_t parts = 0;
  const auto measured = measure_contention(
      sweep,
      [&](std::span<const ContentionRow> rows) {
        ++parts;
        ASSERT_EQ(rows.size(), counting_ways().size());
        for (const ContentionRow& row : rows) {
          SCOPED_TRACE(std::string(row.way->name));
          EXPECT_GT(row.cost.median_ns, 0);
          EXPECT_LE(row.cost.low_ns, row.cost.median_ns);
          EXPECT_GE(row.cost.high_ns, row.cost.median_ns);
          EXPECT_LE(row.batches.p50_cycles.median, row.batches.p99_cycles.median);
          EXPECT_GE(row.lost_share, 0);
          if (row.way->exact || row.of.cores == 1) {
            EXPECT_EQ(row.lost_share, 0);
          }
          EXPECT_EQ(row.merge_ns.has_value(), row.way->name == "separate-merge");
          if (row.merge_ns) {
            EXPECT_EQ(*row.merge_ns > 0, row.of.cores > 1);
            EXPECT_DOUBLE_EQ(row.cost.median_ns, rows[0].cost.median_ns + *row.merge_ns);
            EXPECT_DOUBLE_EQ(row.cost.ratio, row.cost.median_ns / rows[0].cost.median_ns);
            EXPECT_LE(row.cost.ratio_low, row.cost.ratio);
          }
          if (row.way->shared) {
            const std::size_t places = (row.of.flows == 2 ? 4u : 2048u) * (row.way->apart ? 1 : 2);
            EXPECT_EQ(row.memory_bytes, places * (row.way->apart ? 32 : 8));
          }
        }
        if (rows[0].of.sharing == Sharing::same) {
          EXPECT_EQ(rows[0].memory_bytes, rows[0].of.cores * rows[2].memory_bytes);
        }
      },
      [] { return false; });
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(*measured, cases(sweep));
  EXPECT_EQ(parts, cases(sweep));
}

TEST(Contention, RefusesWhatCannotBe) {
  const auto error_of = [](const ContentionSweep& sweep) {
    const auto measured = measure_contention(
        sweep, [](auto) {}, [] { return false; });
    return measured ? "none" : measured.error().message;
  };
  const std::size_t cores = OnOneCore().others().size() + 1;
  EXPECT_THAT(error_of({.flows = {10}, .cores = {cores + 1}, .trace_packets = 1 << 10}), HasSubstr("cores are needed"));
  EXPECT_THAT(error_of({.flows = {std::size_t{1} << 36}, .cores = {1}, .trace_packets = 1 << 10}),
              HasSubstr("name fewer"));
  if (cores > 1) {
    EXPECT_THAT(error_of({.flows = {1}, .sharing = {Sharing::split}, .cores = {2}, .trace_packets = 1 << 10}),
                HasSubstr("name more flows"));
  }
}

TEST(Contention, NamesNoWinnerWhereIntervalsOverlapOrPacketsAreLost) {
  const auto row = [](std::size_t way, double low_ns, double high_ns, std::size_t kept = 15) {
    return ContentionRow{
        .way = &counting_ways()[way],
        .of = {},
        .cost = {.median_ns = (low_ns + high_ns) / 2, .low_ns = low_ns, .high_ns = high_ns, .kept = kept},
        .merge_ns = {}};
  };
  EXPECT_EQ(verdict(std::vector{row(0, 1, 2), row(1, 3, 4), row(2, 5, 6), row(4, 1, 2)}),
            "cheapest of those that end with one table and lose no packet: separate-merge");
  EXPECT_EQ(verdict(std::vector{row(0, 1, 2), row(1, 3, 5), row(2, 4, 6)}),
            "no winner: the intervals of separate-merge, shared-cas overlap");
  EXPECT_THAT(verdict(std::vector{row(1, 3, 4), row(2, 5, 6), row(6, 1, 2)}), HasSubstr(": separate-merge"))
      << "an array adds flows up";
  EXPECT_THAT(verdict(std::vector{row(1, 3, 4, 2), row(2, 5, 6)}), HasSubstr("2 undisturbed samples"));
}

TEST(Contention, HasACellForEveryColumn) {
  const Part part = contention_part(std::vector{ContentionRow{.way = &counting_ways()[0], .of = {}, .merge_ns = {}}});
  EXPECT_EQ(part.rows[0].size(), contention_columns().size());
}

TEST(Harness, LeavesOutSamplesThatAVariantCallsDisturbed) {
  int taken = 0;
  const auto costs = Harness(1, 10).measure({{.name = "one",
                                              .run = [](std::size_t) {},
                                              .observe = [&] { ++taken; },
                                              .disturbed = [&] { return taken < 6; }}});
  EXPECT_EQ(costs[0].samples, 10u);
  EXPECT_LE(costs[0].kept, 4u);
}

}  // namespace
}  // namespace parshall::lab
