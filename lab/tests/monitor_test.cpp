// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/monitors/advice.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

bool never() { return false; }

Frames frames_of(const std::string& spec) {
  auto frames = Frames::of_spec(*TrafficSpec::parse(spec));
  EXPECT_TRUE(frames) << frames.error().message;
  return *std::move(frames);
}

const TableEntry* table(std::string_view name) { return *find_table(name, Identity::exact); }

TEST(Frames, ArePlayedOverAndOverFromWhereOneBegins) {
  const Frames frames = frames_of("flows=100,packets=1000");
  EXPECT_EQ(frames.size(), 1000u);
  EXPECT_EQ(frames.distinct_flows(), 100u);
  const auto from_start = frames.source(0), from_middle = frames.source(300);
  std::array<RawPacket, 100> a, b;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(from_start->poll(a), 100u);
  std::uint64_t last_ns = 0;
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(from_start->poll(a), 100u);
    ASSERT_EQ(from_middle->poll(b), 100u);
    for (std::size_t n = 0; n < a.size(); ++n) {
      ASSERT_EQ(a[n].data, b[n].data);
      ASSERT_GE(a[n].time_ns, last_ns) << "time goes on when packets repeat";
      last_ns = a[n].time_ns;
    }
  }
}

TEST(Frames, SayWhichFileCannotBeRead) {
  const auto frames = Frames::of_file("/no/such/file", 100, 1 << 20);
  ASSERT_FALSE(frames);
  EXPECT_THAT(frames.error().message, HasSubstr("/no/such/file"));
}

TEST(MonitorExperiment, MeasuresEveryStepAndTable) {
  const Frames frames = frames_of("flows=1000,packets=20000");
  MonitorSweep sweep{.monitors = {{.name = "poll", .depth = Depth::poll}, {.name = "decode", .depth = Depth::decode}},
                     .flows = 1000,
                     .rounds = 1};
  for (const TableEntry& entry : table_registry())
    sweep.monitors.push_back({.name = std::string(entry.name),
                              .table = &entry,
                              .identity = entry.exact ? Identity::exact : Identity::fingerprint,
                              .statistics = {"gap_mean"},
                              .batch = 64});
  const auto rows = measure_monitors(sweep, frames, "mine", never);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), sweep.monitors.size());
  for (const MonitorRow& row : *rows) {
    SCOPED_TRACE(row.monitor.name);
    EXPECT_GT(row.cost.median_ns, 0);
    EXPECT_GT(row.batches.lossless_mpps.median, 0);
    EXPECT_LE(row.batches.p50_cycles.median, row.batches.p99_cycles.median);
    if (row.monitor.depth != Depth::count) continue;
    EXPECT_GT(row.memory_bytes, 1000 * 64u);
    EXPECT_EQ(row.expected_merges > 0, row.monitor.identity == Identity::fingerprint);
    if (row.monitor.name == "double-hash") {
      EXPECT_GT(row.evicted_share, 0);
    } else {
      EXPECT_EQ(row.evicted_share, 0);
      EXPECT_EQ(row.flows, 1000u);
    }
  }
  EXPECT_EQ(monitor_part(*rows).rows[0].size(), monitor_columns().size());
}

TEST(MonitorExperiment, RefusesWhatDoesNotFitIntoMemoryAndUnknownStatistics) {
  const Frames frames = frames_of("flows=10,packets=100");
  MonitorSweep sweep{.monitors = std::vector<MonitorUnderTest>(50, {.name = "many", .table = table("bucketed")}),
                     .flows = std::size_t{1} << 27};
  const auto large = measure_monitors(sweep, frames, "mine", never);
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("MB are available"));
  sweep.monitors = {{.name = "odd", .table = table("bucketed"), .statistics = {"gap_colour"}}};
  sweep.flows = 10;
  EXPECT_FALSE(measure_monitors(sweep, frames, "mine", never));
}

MonitorRow row(const char* name, double low_ns, double ns, double high_ns, std::uint64_t bytes) {
  return {.monitor = {.name = name, .table = table("bucketed")},
          .cost = {.median_ns = ns, .low_ns = low_ns, .high_ns = high_ns},
          .memory_bytes = bytes};
}

TEST(Choice, IsTheCheapestAndAmongEqualsTheDefaultOrTheSmallest) {
  const auto any = [](const MonitorRow&) { return true; };
  const auto is_default = [](const MonitorRow& row) { return row.monitor.name == "default"; };
  std::string reason;
  const auto name = [&](const std::vector<MonitorRow>& rows, const auto& fit) {
    const MonitorRow* chosen = choose(rows, fit, is_default, reason);
    return chosen == nullptr ? "" : chosen->monitor.name;
  };
  EXPECT_EQ(name({row("default", 9, 10, 11, 1), row("fast", 4, 5, 6, 9)}, any), "fast");
  EXPECT_EQ(reason, "it is the cheapest");
  EXPECT_EQ(name({row("fast", 4, 5, 6, 1), row("default", 5, 7, 9, 9)}, any), "default");
  EXPECT_THAT(reason, HasSubstr("2 have the same cost"));
  EXPECT_EQ(name({row("fast", 4, 5, 6, 9), row("small", 5, 7, 9, 1), row("default", 7, 8, 9, 1)}, any), "small");
  EXPECT_EQ(name({row("fast", 4, 5, 6, 9), row("small", 8, 9, 9, 1)},
                 [](const MonitorRow& row) { return row.memory_bytes < 5; }),
            "small");
  EXPECT_EQ(name({row("fast", 4, 5, 6, 9)}, [](const MonitorRow&) { return false; }), "");
}

TEST(Advice, IsAConfigurationThatKeepsAllFlows) {
  const Frames frames = frames_of("flows=3000,packets=30000");
  const auto advice = advise(
      {.rate_pps = 1e5, .statistics = {"gap_mean", "iat_p99"}, .rounds = 6}, frames, "mine", [](const std::string&) {},
      never);
  ASSERT_TRUE(advice) << advice.error().message;
  ASSERT_TRUE(*advice);
  EXPECT_EQ((*advice)->flows, 3000u);
  EXPECT_EQ((*advice)->monitor.table->name, "bucketed") << "parshall watch has no other, whichever was the cheapest";
  EXPECT_TRUE((*advice)->monitor.table->exact) << "no merges were allowed";
  const std::string toml = to_toml(**advice);
  EXPECT_THAT(toml, ::testing::AllOf(HasSubstr("\nflows = \"4501\"\n"), HasSubstr("\nidentity = \"exact\"\n"),
                                     HasSubstr("\ncolumns = [\"+gap_mean\", \"iat_p99\"]\n"), HasSubstr("# table ")));
  const auto small = advise(
      {.memory_bytes = 1000, .rounds = 6}, frames, "mine", [](const std::string&) {}, never);
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message, HasSubstr("no table of parshall watch keeps 3000 flows"));
}

}  // namespace
}  // namespace parshall::lab
