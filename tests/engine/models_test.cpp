// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "run.hpp"

namespace parshall {
namespace {

using namespace testing;

struct Threads {
  ThreadModel model;
  std::size_t workers;
};

class EveryModel : public ::testing::TestWithParam<Threads> {
 protected:
  RunPlan plan() const { return {.model = GetParam().model, .workers = GetParam().workers}; }
};

INSTANTIATE_TEST_SUITE_P(Models, EveryModel,
                         ::testing::Values(Threads{ThreadModel::run_to_completion, 1},
                                           Threads{ThreadModel::run_to_completion, 2},
                                           Threads{ThreadModel::run_to_completion, 4},
                                           Threads{ThreadModel::pipeline, 1}, Threads{ThreadModel::pipeline, 2},
                                           Threads{ThreadModel::pipeline, 4}, Threads{ThreadModel::cooperative, 1},
                                           Threads{ThreadModel::cooperative, 2}, Threads{ThreadModel::cooperative, 4}));

TEST_P(EveryModel, TheFinalReportHasEveryPacketOnceInTheRightFlow) {
  const auto traffic = make_traffic({.packets = 60'000, .flows = 2000, .zipf_exponent = 1.0});
  const auto session = make_session(plan(), traffic);
  ASSERT_FALSE(session->start());
  const Report report = session->final_report();
  expect_balanced_by_thread(report.summary);
  EXPECT_TRUE(report.summary.final);
  EXPECT_EQ(report.summary.workers.size(), GetParam().workers);
  EXPECT_EQ(report.summary.total[Counter::polled], traffic->packets().size());
  EXPECT_EQ(report.summary.total.counted(), traffic->sent().size());
  EXPECT_EQ(report.summary.total.not_ip(), traffic->not_ip());
  EXPECT_EQ(report.summary.total.malformed(), traffic->malformed());
  EXPECT_EQ(report.summary.total.lost(), 0u);
  EXPECT_EQ(report.summary.first_ns(), traffic->sent().front().time_ns);
  EXPECT_EQ(report.summary.last_ns(), traffic->sent().back().time_ns);
  const auto rows = rows_of(report);
  EXPECT_EQ(rows.size(), traffic->by_flow().size());
  expect_exact(rows, *traffic);
}

TEST_P(EveryModel, ATinyTableWithTimeoutsStillReportsEveryPacketInOneRecord) {
  RunPlan small = plan();
  small.flows = 80 / GetParam().workers;
  small.timeouts = {.idle_ns = 150'000, .active_ns = 2'000'000};
  const auto traffic = make_traffic({.packets = 60'000, .flows = 3000, .zipf_exponent = 0.9});
  const auto session = make_session(small, traffic);
  ASSERT_FALSE(session->start());
  const Report report = session->final_report();
  expect_balanced_by_thread(report.summary);
  EXPECT_GT(report.summary.total[Counter::evicted_records], 0u);
  EXPECT_GT(report.summary.total[Counter::ended_records], report.summary.total[Counter::evicted_records]);
  const auto rows = rows_of(report);
  EXPECT_EQ(rows.size(), report.summary.total[Counter::ended_records] + report.summary.total[Counter::live_flows]);
  EXPECT_LE(report.summary.total[Counter::live_flows], report.summary.capacity);
  expect_exact(rows, *traffic);
}

TEST_P(EveryModel, WhatTheFilterLetsThroughIsCountedAndTheRestIsCountedAsFiltered) {
  RunPlan filtered = plan();
  filtered.filter = "ip6";
  const auto traffic = make_traffic({.packets = 20'000});
  const auto session = make_session(filtered, traffic);
  ASSERT_FALSE(session->start());
  const Report report = session->final_report();
  const auto ipv6 = static_cast<std::uint64_t>(
      std::ranges::count_if(traffic->sent(), [](const Sent& sent) { return sent.flow.size() == 40; }));
  EXPECT_EQ(report.summary.total.counted(), ipv6);
  EXPECT_EQ(report.summary.total[Counter::filtered], traffic->packets().size() - ipv6);
  EXPECT_EQ(report.summary.total.not_ip(), 0u);
  expect_balanced_by_thread(report.summary);
}

TEST_P(EveryModel, AStopBalancesWhereverItStruck) {
  const auto traffic = make_traffic({.packets = 50'000});
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto session = make_session(plan(), traffic, {.pause_every = 5000, .rounds = 1000});
    ASSERT_FALSE(session->start());
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + 3 * attempt));
    session->stop();
    const Report report = session->final_report();
    expect_balanced_by_thread(report.summary);
    EXPECT_EQ(packets_in(rows_of(report)), report.summary.total.counted());
    EXPECT_EQ(report.summary.total.lost(), 0u);
  }
}

/// Packets are counted where they are received: the command line takes no other model at packet level.
class PacketLevel : public EveryModel {};

INSTANTIATE_TEST_SUITE_P(Workers, PacketLevel,
                         ::testing::Values(Threads{ThreadModel::run_to_completion, 1},
                                           Threads{ThreadModel::run_to_completion, 2},
                                           Threads{ThreadModel::run_to_completion, 4}));

TEST_P(PacketLevel, CountsEveryPacketAndBalances) {
  RunPlan packets = plan();
  packets.packets_only = true;
  const auto traffic = make_traffic({.packets = 20'000});
  const auto session = make_session(packets, traffic);
  ASSERT_FALSE(session->start());
  const Report report = session->final_report();
  expect_balanced_by_thread(report.summary);
  EXPECT_EQ(report.summary.total[Counter::polled], traffic->packets().size());
  EXPECT_GE(report.summary.total[Counter::arrived], traffic->sent().size());
  EXPECT_GT(report.summary.total[Counter::wire_bytes], 0u);
  EXPECT_TRUE(rows_of(report).empty());
}

TEST_P(EveryModel, ASmallRingMakesALosslessSourceWaitAndDropsNothing) {
  RunPlan small = plan();
  small.ring_packets = 64;
  const auto traffic = make_traffic({.packets = 30'000});
  const auto session = make_session(small, traffic);
  ASSERT_FALSE(session->start());
  const Report report = session->final_report();
  expect_balanced_by_thread(report.summary);
  EXPECT_EQ(report.summary.total[Counter::ring_full], 0u);
  EXPECT_EQ(packets_in(rows_of(report)), traffic->sent().size());
}

TEST_P(EveryModel, AnEmptySourceGivesAnEmptyReport) {
  const auto session = make_session(plan(), std::make_shared<const Traffic>());
  ASSERT_FALSE(session->start());
  const Report report = session->final_report();
  expect_balanced_by_thread(report.summary);
  EXPECT_EQ(report.summary.total.offered(), 0u);
  EXPECT_EQ(report.summary.first_ns(), 0u);
  EXPECT_TRUE(rows_of(report).empty());
}

}  // namespace
}  // namespace parshall
