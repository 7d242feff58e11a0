// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "run.hpp"

namespace parshall {
namespace {

using namespace testing;

constexpr std::uint64_t kFloodFlows = 1 << 20;  ///< numbers from here on are of the flood

/// A share of the packets are 60 bytes of a flow of their own each, the rest of 300 flows.
std::shared_ptr<const Traffic> flood_traffic(double share) {
  auto traffic = std::make_shared<Traffic>();
  SplitMix64 random(static_cast<std::uint64_t>(100 * share));
  std::uint64_t time_ns = kStartNs;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    time_ns += 1 + random.below(2000);
    if (random.uniform() < share)
      traffic->add_ip(kFloodFlows + i, time_ns, 0);
    else
      traffic->add_ip(random.below(300), time_ns, static_cast<std::uint32_t>(random.below(200)));
  }
  return traffic;
}

std::uint64_t wire_bytes_of(const Traffic& traffic) {
  std::uint64_t bytes = 0;
  for (const Sent& packet : traffic.sent()) bytes += packet.wire_bytes;
  return bytes;
}

struct FloodedCase {
  std::string table;
  double share;
  std::size_t flows = 4096;
  std::size_t workers = 1;
  ThreadModel model = ThreadModel::run_to_completion;
  std::vector<std::string> columns = {}, tasks = {};
};

RunPlan plan_of(const FloodedCase& of) {
  return {.model = of.model,
          .workers = of.workers,
          .flows = of.flows,
          .columns = of.columns,
          .tasks = of.tasks,
          .table = of.table,
          .flood_filter_bytes = 128};
}

std::uint64_t kept_by(const Report& report) { return report.summary.total[Counter::kept_out_packets]; }

/// All packets are in flows, or are told to have been kept out, with all their bytes.
void expect_all_told(const Report& report, const std::vector<Row>& rows, const Traffic& traffic) {
  const Accounting& total = report.summary.total;
  expect_balanced(total);
  EXPECT_EQ(total.counted(), traffic.sent().size());
  EXPECT_EQ(packets_in(rows) + kept_by(report), traffic.sent().size());
  std::uint64_t wire_bytes = total[Counter::kept_out_wire_bytes];
  for (const Row& row : rows) wire_bytes += row.record.wire_bytes;
  EXPECT_EQ(wire_bytes, wire_bytes_of(traffic));
  EXPECT_EQ(total[Counter::wire_bytes], wire_bytes_of(traffic));
  EXPECT_EQ(total[Counter::first_seen_ns], traffic.sent().front().time_ns);
  EXPECT_EQ(total[Counter::last_seen_ns], traffic.sent().back().time_ns);
}

TEST(FloodedTables, TellOfEachPacketWhetherItWasKeptOut) {
  for (const double share : {0.0, 0.3, 0.6, 1.0}) {
    const auto traffic = flood_traffic(share);
    for (const TableEntry& table : table_registry()) {
      if (!table.exact) continue;
      for (const std::size_t flows : {500u, 1u << 18}) {
        SCOPED_TRACE(std::string(table.name) + ", " + std::to_string(share) + ", " + std::to_string(flows));
        const auto session = make_session(plan_of({std::string(table.name), share, flows}), traffic);
        ASSERT_FALSE(session->start());
        const Report report = session->final_report();
        const auto rows = rows_of(report);
        expect_all_told(report, rows, *traffic);
        if (share == 0) {
          expect_exact(rows, *traffic);
        }
        // The first window is of one that does not know yet, and a tenth of the packets.
        if (share >= 0.6) {
          EXPECT_GT(static_cast<double>(kept_by(report)), 0.8 * share * 1e5);
          EXPECT_GT(report.summary.flood_filter->on_s, 0.8 * report.summary.flood_filter->seconds);
        }
        EXPECT_EQ(kept_by(report) != 0, share >= 0.3) << kept_by(report);
      }
    }
  }
}

/// Each flow comes twice during the flood, with more new flows in between than the table has room for.
TEST(FloodedTables, KeepTheFlowsThatWereThereBefore) {
  constexpr std::uint64_t kFlows = 300, kBefore = 66, kApart = 100;
  const auto traffic = std::make_shared<Traffic>();
  std::uint64_t time_ns = kStartNs;
  const auto add = [&](std::uint64_t flow) { traffic->add_ip(flow, time_ns += 1000, 0); };
  for (std::uint64_t i = 0; i < kBefore * kFlows; ++i) add(i % kFlows);
  for (std::uint64_t i = 0; i < 2 * kApart * kFlows; ++i) add(i % kApart == 0 ? i / kApart % kFlows : kFloodFlows + i);
  const auto flows_kept = [&](std::uint32_t bytes) {
    RunPlan plan = plan_of({"bucketed", 0, 1 << 14});
    plan.flood_filter_bytes = bytes;
    const auto session = make_session(plan, traffic);
    EXPECT_FALSE(session->start());
    return std::ranges::count_if(rows_of(session->final_report()),
                                 [](const Row& row) { return row.record.packets == kBefore + 2; });
  };
  EXPECT_LT(flows_kept(0), 150);
  EXPECT_GT(flows_kept(128), 290);
}

class FloodedSessions : public ::testing::TestWithParam<FloodedCase> {};
INSTANTIATE_TEST_SUITE_P(
    Cases, FloodedSessions,
    ::testing::Values(
        FloodedCase{"bucketed", 0.5}, FloodedCase{"bucketed", 1}, FloodedCase{"bucketed", 0.7, 100},
        FloodedCase{"robin-hood", 0.7, 100}, FloodedCase{"bucketed", 0.7, 100, 3},
        FloodedCase{"bucketed", 0.7, 100, 2, ThreadModel::pipeline},
        FloodedCase{"bucketed", 0.7, 100, 2, ThreadModel::cooperative},
        FloodedCase{"bucketed", 0.7, 1000, 1, ThreadModel::run_to_completion, {"gap_mean", "size_mean"}},
        FloodedCase{"robin-hood", 0.7, 300, 1, ThreadModel::run_to_completion, {"iat_max"}, {"count:window=10ms"}},
        FloodedCase{"bucketed",
                    0.7,
                    300,
                    2,
                    ThreadModel::run_to_completion,
                    {},
                    {"count:window=10ms", "count:window=1000p,name=other"}}));

TEST_P(FloodedSessions, BalanceInEveryReport) {
  const auto traffic = flood_traffic(GetParam().share);
  Gate gate(*traffic, 20);
  const auto session = make_session(plan_of(GetParam()), traffic, gate.behaviour());
  ASSERT_FALSE(session->start());
  std::vector<Row> ended;
  std::uint64_t kept_before = 0;
  gate.open_further();
  for (; const auto report = session->snapshot(); gate.open_further()) {
    expect_balanced(report->summary.total);
    const auto rows = rows_of(*report);
    std::uint64_t live = 0;
    for (const Row& row : rows)
      if (row.record.end_reason == EndReason::none)
        live += row.record.packets;
      else
        ended.push_back(row);
    ASSERT_EQ(live, report->summary.total[Counter::live_flow_packets]);
    ASSERT_EQ(live + packets_in(ended) + kept_by(*report), report->summary.total.counted());
    ASSERT_GE(kept_by(*report), kept_before);
    kept_before = kept_by(*report);
    session->confirm_written();
  }
  EXPECT_GT(kept_before, 0u);
  const Report last = session->final_report();
  auto rows = rows_of(last);
  rows.insert(rows.end(), ended.begin(), ended.end());
  expect_all_told(last, rows, *traffic);
  EXPECT_TRUE(last.summary.windows_balanced);
  const auto value_of = [](const Event& event, std::string_view name) {
    const auto value = std::ranges::find(event.values, name, &EventValue::name);
    return value == event.values.end() ? 0 : std::get<std::uint64_t>(value->value);
  };
  std::uint64_t counted = 0, kept = 0;
  for (const Event& event : session->take_events())
    counted += value_of(event, "packets"), kept += value_of(event, "kept_out_packets");
  const std::size_t tasks = GetParam().tasks.size();
  EXPECT_EQ(counted, tasks * traffic->sent().size());
  EXPECT_EQ(kept, tasks * kept_by(last));
}

/// In each window, whatever the filter keeps out: by time, and by position.
TEST(FloodedSessions, WindowsHaveTheSamePacketsAsWithoutAFilter) {
  const auto traffic = flood_traffic(0.8);
  const auto windows_of = [&](std::uint32_t bytes) {
    RunPlan plan = plan_of({"bucketed", 0, 4096});
    plan.tasks = {"count:window=10ms", "count:window=1000p,name=other"};
    plan.flood_filter_bytes = bytes;
    const auto session = make_session(plan, traffic);
    EXPECT_FALSE(session->start());
    const Report report = session->final_report();
    EXPECT_TRUE(report.summary.windows_balanced);
    EXPECT_EQ(kept_by(report) != 0, bytes != 0);
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> packets;
    for (const Event& event : session->take_events())
      packets[{event.window.length.amount, event.window.number}] = std::get<std::uint64_t>(event.values.front().value);
    return packets;
  };
  const auto with = windows_of(128), without = windows_of(0);
  EXPECT_GT(with.size(), 105u);
  EXPECT_EQ(with, without);
}

}  // namespace
}  // namespace parshall
