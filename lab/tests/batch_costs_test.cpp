// SPDX-License-Identifier: Apache-2.0
#include "base/figures/batch_costs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace parshall::lab {
namespace {

TEST(MedianInterval, HasTheRanksOfTheBinomialDistribution) {
  using Ranks = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(median_interval(5), Ranks(0, 4));
  EXPECT_EQ(median_interval(6), Ranks(0, 5));    // 2 / 64 outside
  EXPECT_EQ(median_interval(9), Ranks(1, 7));    // 20 / 512
  EXPECT_EQ(median_interval(15), Ranks(3, 11));  // 1152 / 32768
  EXPECT_EQ(median_interval(100), Ranks(39, 60));
  EXPECT_EQ(median_interval(1), Ranks(0, 0));
  EXPECT_EQ(median_interval(1000), Ranks(468, 531));
  for (const std::size_t n : {1001u, 1075u, 10'000u}) {
    const auto [low, high] = median_interval(n);
    EXPECT_NEAR(static_cast<double>(low), static_cast<double>(n) / 2 - 0.98 * std::sqrt(static_cast<double>(n)), 2);
    EXPECT_EQ(low + high, n - 1);
  }
}

TEST(LosslessRate, IsWhatAQueueCanTake) {
  const std::vector<std::uint32_t> even(1000, 320);
  EXPECT_NEAR(lossless_rate(even, 32, 4096), 0.1, 1e-6);
  EXPECT_NEAR(lossless_rate(even, 32, 1 << 20), 0.1, 1e-6) << "a queue that is never full takes no more than is served";
  std::vector<std::uint32_t> stalled = even;
  stalled[500] = 40'960;
  EXPECT_NEAR(lossless_rate(stalled, 32, 4096), 32'000.0 / (999 * 320 + 40'960), 1e-6) << "it can catch up";
  EXPECT_NEAR(lossless_rate(stalled, 32, 2048), 0.05, 1e-3);
  EXPECT_EQ(lossless_rate({}, 32, 4096), 0);
}

TEST(LostPackets, AreThoseThatFindTheQueueFull) {
  const std::vector<std::uint32_t> even(1000, 320);
  const auto lost = [](std::span<const std::uint32_t> cycles, std::size_t queue, double rate) {
    double waiting = 0;
    return lost_packets(cycles, 32, queue, rate, waiting);
  };
  EXPECT_EQ(lost(even, 4096, 0.1), 0);
  EXPECT_NEAR(lost(even, 64, 0.2), 1000 * 32 - 32, 1) << "half of them, once the queue is full";
  std::vector<std::uint32_t> stalled = even;
  stalled[500] = 100'000;
  EXPECT_NEAR(lost(stalled, 4096, 0.05), 5000 - 4096, 1);
  EXPECT_EQ(lost(stalled, 5000, 0.05), 0);
  EXPECT_EQ(lost({}, 4096, 0.1), 0);
  double waiting = 64;
  EXPECT_NEAR(lost_packets(even, 32, 64, 0.2, waiting), 1000 * 32 + 32, 1) << "the queue is full from the beginning";
  EXPECT_NEAR(waiting, 32, 1e-9);
}

TEST(BatchRounds, TimeWholeBatches) {
  BatchRounds rounds(32, {});
  EXPECT_EQ(rounds.figures().rounds, 0u);
  int plays = 0;
  rounds.measure(3200, [&](std::size_t most) {
    EXPECT_EQ(most, 3200u);
    const std::uint64_t wanted = cycles_now() + 3200;
    while (cycles_now() < wanted) continue;
    return ++plays % 10 == 0 ? 31 : 32;  // a batch that is not whole does not count
  });
  EXPECT_EQ(plays, 101);
  EXPECT_EQ(rounds.figures().rounds, 1u);
  EXPECT_GE(rounds.figures().p50_cycles.median, 100);
  rounds.measure(10, [&](std::size_t most) { return most; });
  EXPECT_EQ(rounds.figures().rounds, 1u) << "a round without a whole batch is none";
}

TEST(BatchRounds, HaveAMedianAndItsIntervalOverTheRounds) {
  BatchRounds rounds(32, {.queue_packets = 64, .mpps = 0.2 * 1e3 * cycles_per_ns()});  // twice what is served
  for (const std::uint32_t cycles : {10u, 9u, 10u, 10u, 10u, 10u, 9u, 10u, 10u})
    rounds.add_round(std::vector<std::uint32_t>(1000, 32 * cycles));
  const BatchFigures figures = rounds.figures();
  EXPECT_EQ(figures.rounds, 9u);
  for (const Estimate& cycles : {figures.p50_cycles, figures.p99_cycles, figures.p999_cycles}) {
    EXPECT_EQ(cycles.median, 12) << "10 cycles a packet, in the bucket of 10 and 11";
    EXPECT_EQ(cycles.low, 10);
    EXPECT_EQ(cycles.high, 12);
  }
  EXPECT_NEAR(figures.lossless_mpps.median, 100 * cycles_per_ns(), 1e-6) << "a packet in 10 cycles";
  EXPECT_NEAR(figures.modelled_loss, 0.5, 0.03);
}

TEST(BatchCosts, AreAHistogramOfTwoCycleBuckets) {
  BatchCosts costs;
  EXPECT_EQ(costs.quantile(0.5), 0);
  for (std::uint64_t i = 0; i < 1000; ++i) costs.add(32 * i, 32);
  EXPECT_NEAR(costs.quantile(0.5), 500, 2);
  EXPECT_NEAR(costs.quantile(0.99), 990, 2);
  costs.add(~std::uint64_t{0}, 1);
  EXPECT_EQ(costs.quantile(1), 16384);
}

}  // namespace
}  // namespace parshall::lab
