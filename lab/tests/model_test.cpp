// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "engine/packet_counter.hpp"
#include "lab/thread_models/report.hpp"
#include "lab/thread_models/trace_queue.hpp"
#include "traffic/memory_source.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Trace> model_trace(const TrafficSpec& spec) {
  auto trace = Trace::make(spec);
  EXPECT_TRUE(trace);
  return std::make_shared<const Trace>(*std::move(trace));
}

std::vector<RawPacket> all_of(PacketSource&& source) {
  std::vector<RawPacket> packets;
  std::array<RawPacket, 7> batch;
  while (!source.exhausted()) {
    const std::size_t count = source.poll(batch);
    packets.insert(packets.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return packets;
}

TEST(QueueOfTrace, HandsOverItsFlowsPacketsOfTheWholeTraffic) {
  const auto trace = model_trace({.flows = 10, .packets = 100});
  for (const std::size_t queues : {1u, 3u, 20u}) {
    const auto spread = std::make_shared<const SpreadTrace>(trace, queues);
    std::vector<RawPacket> spread_out;
    for (std::size_t queue = 0; queue < queues; ++queue) {
      const auto packets = all_of(QueueOfTrace(spread, queue, 250, 1000));
      EXPECT_EQ(packets.size(), spread->share_of(queue, 250));
      EXPECT_TRUE(std::ranges::is_sorted(packets, {}, &RawPacket::time_ns));
      for (const RawPacket& packet : packets) {
        const auto number = static_cast<std::uint64_t>(packet.data - trace->frame(0)) / trace->stride();
        EXPECT_EQ(SplitMix64::mix(trace->flow_of(number)) % queues, queue);
      }
      spread_out.insert(spread_out.end(), packets.begin(), packets.end());
    }
    const auto whole = all_of(MemorySource(trace, 250, 1000));
    std::ranges::sort(spread_out, {}, &RawPacket::time_ns);
    ASSERT_EQ(spread_out.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(spread_out[i].data, whole[i].data);
      EXPECT_NEAR(static_cast<double>(spread_out[i].time_ns), static_cast<double>(whole[i].time_ns), 2);
    }
  }
}

TEST(GapCounter, GivesTheQuantilesAndTheLossOfAQueue) {
  GapCounter gaps;
  EXPECT_EQ(gaps.figures(2).max_us, 0);
  for (int i = 0; i < 1998; ++i) gaps.add(100);  // 50 ns each at 2 cycles a ns
  GapCounter stalls;
  stalls.add(20'000);     // 10 us: 149 packets
  stalls.add(2'000'000);  // 1 ms: 14,880 packets
  gaps.add(stalls);
  const PollGaps figures = gaps.figures(2);
  EXPECT_DOUBLE_EQ(figures.p999_us, 0.05);
  EXPECT_DOUBLE_EQ(figures.max_us, 1000);
  EXPECT_NEAR(figures.modelled_loss, (14'880 - 4096) / (14'880 + 148.8 + 1998 * 0.05 * 14.88), 1e-9);
  gaps.add(30'000);
  EXPECT_DOUBLE_EQ(gaps.figures(2).p999_us, 10) << "two of 2001 may be longer";
}

TEST(MeasureGaps, AreOfAThreadThatSharesItsCore) {
  for (const SchedulingPolicy& policy : scheduling_policies()) {
    if (refused(policy)) continue;
    const auto gaps = measure_gaps(policy, usable_cores().front(), 2, std::chrono::milliseconds(50));
    ASSERT_TRUE(gaps) << gaps.error().message;
    EXPECT_GT(gaps->p999_us, 0);
    EXPECT_GT(gaps->max_us, 100) << "one waits while the other polls: " << policy.name;
    EXPECT_GT(gaps->modelled_loss, 0);
    EXPECT_LT(gaps->modelled_loss, 1);
    const auto alone = measure_gaps(policy, usable_cores().front(), 1, std::chrono::milliseconds(50));
    ASSERT_TRUE(alone) << alone.error().message;
    if (policy.shares()) {
      EXPECT_GT(alone->max_us, 300) << "it may not poll for most of every millisecond";
    }
  }
}

ModelSweep quick() {
  ModelSweep sweep{.models = {}, .workers = {1, 2}, .schedulers = {&scheduling_policies().front()}};
  for (const ThreadModelEntry& model : thread_models()) sweep.models.push_back(&model);
  sweep.traffic = "flows=100";
  sweep.trace = model_trace({.flows = 100, .packets = 1000});
  sweep.flows = 100;
  sweep.packets = 20'500;
  sweep.rounds = 3;
  sweep.oversubscribe = true;  // on whatever machine
  sweep.table = *find_table("bucketed", Identity::exact);
  return sweep;
}

constexpr auto kNeverStop = [] { return false; };

TEST(ModelExperiment, RunsUnderEveryPolicyThatIsNotRefused) {
  ModelSweep sweep = quick();
  sweep.workers = {1};
  sweep.rounds = 1;
  sweep.schedulers.clear();
  for (const SchedulingPolicy& policy : scheduling_policies())
    if (!refused(policy)) sweep.schedulers.push_back(&policy);
  const auto rows = measure_models(sweep, kNeverStop);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), sweep.schedulers.size() * thread_models().size());
  for (const ModelRow& row : *rows) {
    EXPECT_EQ(row.lost, 0u) << name_of(row);
    EXPECT_GT(row.mpps.median, 0) << name_of(row);
    EXPECT_GT(row.gaps_alone.max_us, 0) << name_of(row);
  }
}

TEST(ModelExperiment, RunsEveryModelWithEveryNumberOfWorkers) {
  const ModelSweep sweep = quick();
  const auto rows = measure_models(sweep, kNeverStop);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2 * thread_models().size());
  EXPECT_EQ(rows->front().ratio.median, 1);
  for (const ModelRow& row : *rows) {
    SCOPED_TRACE(name_of(row));
    EXPECT_GT(row.mpps.low, 0);
    EXPECT_LE(row.mpps.low, row.mpps.median);
    EXPECT_LE(row.mpps.median, row.mpps.high);
    EXPECT_GT(row.cpu_ns, 0);
    EXPECT_EQ(row.lost, 0u) << "the source waits";
    EXPECT_EQ(row.samples, 3u);
  }
  const Part part = model_part(sweep, *rows);
  ASSERT_EQ(part.rows.size(), rows->size());
  for (const auto& cells : part.rows) EXPECT_EQ(cells.size(), model_columns().size());
  EXPECT_EQ(part.verdict, "");
}

TEST(ModelExperiment, RefusesARunThatDoesNotBalance) {
  // It counts nothing of what another thread decoded.
  static const TableEntry forgetful{
      "forgetful",
      true,
      0,
      "",
      [](const FlowStageOptions&) -> std::unique_ptr<FlowStage> { return std::make_unique<PacketCounter>(); },
      [](std::size_t) { return std::size_t{0}; },
      [](std::size_t) { return std::size_t{0}; }};
  ModelSweep sweep = quick();
  sweep.table = &forgetful;
  sweep.models = {&*std::ranges::find(thread_models(), "pipeline", &ThreadModelEntry::name)};
  const auto rows = measure_models(sweep, kNeverStop);
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("pipeline, 1 worker, other: of 20500 packets, 20500 were polled"));
}

TEST(ModelExperiment, RefusesMoreWorkersThanCoresUnlessTold) {
  ModelSweep sweep = quick();
  sweep.workers = {1, usable_cores().size() + 1};
  sweep.oversubscribe = false;
  const auto rows = measure_models(sweep, kNeverStop);
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("--oversubscribe"));
}

TEST(ModelExperiment, KeepsTheRoundsThatWereDoneBeforeAStop) {
  ModelSweep sweep = quick();
  sweep.models.resize(1);
  int runs = 0;
  sweep.rounds = 5;
  sweep.workers = {1};
  const auto rows = measure_models(sweep, [&] { return ++runs > 6; });  // asked before a run and behind a round
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front().samples, 2u) << "the first round warms up";
  EXPECT_EQ(model_part(sweep, *rows).verdict, "stopped after 2 of 5 rounds");
  const auto none = measure_models(sweep, [] { return true; });
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

}  // namespace
}  // namespace parshall::lab
