// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "oracle.hpp"

namespace parshall {
namespace {

using namespace testing;

struct SnapshotCase {
  const char* name;
  ThreadModel model;
  std::size_t workers, flows;
  Timeouts timeouts;
};

class Snapshots : public ::testing::TestWithParam<SnapshotCase> {};

constexpr Timeouts kShort{.idle_ns = 3'000'000, .active_ns = 20'000'000};
INSTANTIATE_TEST_SUITE_P(
    Cases, Snapshots,
    ::testing::Values(SnapshotCase{"Roomy1", ThreadModel::run_to_completion, 1, 4096, {}},
                      SnapshotCase{"Tiny1", ThreadModel::run_to_completion, 1, 100, {}},
                      SnapshotCase{"TinyTimeouts2", ThreadModel::run_to_completion, 2, 100, kShort},
                      SnapshotCase{"RoomyTimeouts4", ThreadModel::run_to_completion, 4, 4096, kShort},
                      SnapshotCase{"PipelineTiny2", ThreadModel::pipeline, 2, 100, kShort},
                      SnapshotCase{"CooperativeTiny2", ThreadModel::cooperative, 2, 100, kShort}),
    [](const auto& test) { return test.param.name; });

using RecordName = std::pair<std::string, std::uint64_t>;
RecordName name_of(const FlowRecord& record) { return {text_of(record.key), record.first_ns}; }

TEST_P(Snapshots, EveryOneIsConsistentAndTogetherTheyTellEveryPacketOnce) {
  const SnapshotCase& of = GetParam();
  const auto traffic = make_traffic({.packets = 100'000, .flows = 3000, .zipf_exponent = 0.9});
  Gate gate(*traffic, 20);
  const auto session = make_session({.model = of.model,
                                     .workers = of.workers,
                                     .flows = of.flows,
                                     .timeouts = of.timeouts,
                                     .columns = {"gap_mean", "iat_max", "size_mean"}},
                                    traffic, gate.behaviour());
  ASSERT_FALSE(session->start());
  gate.open_further();
  std::map<RecordName, std::uint64_t> live_before;
  std::map<RecordName, std::uint64_t> ended;
  std::uint64_t ended_packets = 0, counted_before = 0, offered_before = 0, number = 0;
  std::vector<Row> ended_rows;
  for (; const auto report = session->snapshot(); gate.open_further()) {
    const Accounting& total = report->summary.total;
    expect_balanced_by_thread(report->summary);
    ASSERT_EQ(report->summary.number, ++number);
    ASSERT_FALSE(report->summary.final);
    ASSERT_GE(total.counted(), counted_before);
    ASSERT_GE(total.offered(), offered_before);
    counted_before = total.counted();
    offered_before = total.offered();
    std::map<RecordName, std::uint64_t> live;
    std::uint64_t live_packets = 0;
    const auto rows = rows_of(*report);
    for (const Row& row : rows) {
      const auto before = live_before.find(name_of(row.record));
      if (before != live_before.end()) {
        ASSERT_GE(row.record.packets, before->second) << "a record shrank";
      }
      if (row.record.end_reason == EndReason::none) {
        ASSERT_TRUE(live.emplace(name_of(row.record), row.record.packets).second) << "one live record twice";
        live_packets += row.record.packets;
      } else {
        ASSERT_TRUE(ended.emplace(name_of(row.record), row.record.packets).second) << "one ended record in two reports";
        ended_packets += row.record.packets;
        ended_rows.push_back(row);
      }
    }
    for (const auto& [record, packets] : live_before)
      ASSERT_TRUE(live.contains(record) || ended.contains(record)) << "a record vanished";
    ASSERT_EQ(live_packets, total[Counter::live_flow_packets]);
    ASSERT_EQ(live.size(), total[Counter::live_flows]);
    ASSERT_EQ(ended_packets, total[Counter::ended_record_packets]);
    ASSERT_EQ(ended.size(), total[Counter::ended_records]);
    ASSERT_EQ(live_packets + ended_packets, total.counted());
    expect_complete_statistics(rows, *traffic);
    if (HasFatalFailure()) return;
    live_before = std::move(live);
    session->confirm_written();
  }
  EXPECT_GE(number, 19u) << "too few reports to mean anything";
  const Report last = session->final_report();
  expect_balanced_by_thread(last.summary);
  auto rows = rows_of(last);
  rows.insert(rows.end(), ended_rows.begin(), ended_rows.end());
  expect_exact(rows, *traffic);
  expect_complete_statistics(rows, *traffic);
}

TEST(Snapshots, WhatNobodyConfirmedIsToldAgainByTheFinalReport) {
  const auto traffic = make_traffic({.packets = 100'000, .flows = 3000});
  Gate gate(*traffic, 4);
  const auto session = make_session({.flows = 200}, traffic, gate.behaviour());
  ASSERT_FALSE(session->start());
  for (int i = 0; i < 4; ++i) {
    gate.open_further();
    if (const auto report = session->snapshot()) rows_of(*report);
  }
  expect_exact(rows_of(session->final_report()), *traffic);
}

TEST(Snapshots, OtherColumnsStartFromNothingAndNeverMixWithTheOldOnes) {
  const auto traffic = make_traffic({.packets = 200'000, .flows = 1000, .others = false});
  Gate gate(*traffic, 40);
  const auto session = make_session({.workers = 2, .flows = 400, .columns = {"size_mean"}}, traffic, gate.behaviour());
  ASSERT_FALSE(session->start());
  const std::vector<std::vector<std::string>> choices{
      {"gap_p99", "size_max"}, {}, {"size_max"}, {"iat_mean", "size_mean", "size_max"}, {"size_min"}};
  std::uint64_t reports = 0;
  for (std::size_t i = 0;; ++i) {
    gate.open_further();
    const auto& choice = choices[i % choices.size()];
    session->change_columns(schema_of(choice));
    const auto report = session->snapshot();
    if (!report) break;
    ++reports;
    ASSERT_EQ(report->asked().size(), choice.size());
    expect_balanced(report->summary.total);
    std::uint64_t packets = 0;
    for (const Row& row : rows_of(*report)) {
      packets += row.record.packets;
      for (std::size_t c = 0; c < choice.size(); ++c) {
        if (!choice[c].starts_with("size") || !row.values[c]) continue;
        ASSERT_GE(*row.values[c], 60) << choice[c];
        ASSERT_LE(*row.values[c], 1462) << choice[c];
      }
    }
    ASSERT_GE(packets, report->summary.total[Counter::live_flow_packets]);
    session->confirm_written();
  }
  EXPECT_GE(reports, 39u);
  expect_balanced(session->final_report().summary.total);
}

TEST(Snapshots, PacketLevelReportsComeWithoutFlows) {
  const auto traffic = make_traffic({.packets = 100'000});
  Gate gate(*traffic, 10);
  const auto session = make_session({.workers = 2, .packets_only = true}, traffic, gate.behaviour());
  ASSERT_FALSE(session->start());
  std::uint64_t before = 0;
  int reports = 0;
  for (gate.open_further(); const auto report = session->snapshot(); ++reports, gate.open_further()) {
    expect_balanced(report->summary.total);
    ASSERT_GE(report->summary.total.counted(), before);
    before = report->summary.total.counted();
    ASSERT_TRUE(rows_of(*report).empty());
  }
  EXPECT_GE(reports, 9);
}

}  // namespace
}  // namespace parshall
