// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lab/tables/report.hpp"
#include "tests/thorough.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

std::vector<const TableUnderTest*> all_tables() {
  std::vector<const TableUnderTest*> all;
  for (const TableUnderTest& table : tables_under_test()) all.push_back(&table);
  return all;
}

std::vector<TableRow> rows_of(const TableSweep& sweep) {
  std::vector<TableRow> all;
  const auto measured = measure_tables(
      sweep, [&](std::span<const TableRow> rows) { all.insert(all.end(), rows.begin(), rows.end()); },
      [] { return false; });
  EXPECT_TRUE(measured) << measured.error().message;
  return all;
}

template <class Size>
class LabKeys : public ::testing::Test {};
using KeySizes = ::testing::Types<std::integral_constant<std::size_t, 8>, std::integral_constant<std::size_t, 16>,
                                  std::integral_constant<std::size_t, 40>>;
TYPED_TEST_SUITE(LabKeys, KeySizes);

TYPED_TEST(LabKeys, AreDifferentForEveryFlowAndGoThroughAFlowKey) {
  constexpr std::size_t kBytes = TypeParam::value;
  std::vector<decltype(LabKey<kBytes>::words)> keys;
  for (std::uint32_t flow = 0; flow < 100'000; ++flow) {
    const LabKey<kBytes> key = key_of<kBytes>(flow);
    keys.push_back(key.words);
    ASSERT_TRUE(key.present());
    ASSERT_EQ(flow_of(key), flow);
    FlowKey flow_key;
    write_flow_key(key, flow_key);
    ASSERT_EQ(flow_key.ip_version, kBytes == 40 ? 6 : 4);
    ASSERT_TRUE(read_flow_key<kBytes>(flow_key) == key);
  }
  std::ranges::sort(keys);
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
  EXPECT_FALSE(LabKey<kBytes>().present());
}

void expect_sound(const TableRow& row) {
  SCOPED_TRACE(std::string(row.table->name));
  EXPECT_GT(row.cost.median_ns, 0);
  EXPECT_LE(row.cost.low_ns, row.cost.median_ns);
  EXPECT_GE(row.cost.high_ns, row.cost.median_ns);
  EXPECT_LE(row.batches.p50_cycles.median, row.batches.p99_cycles.median);
  EXPECT_LE(row.batches.p99_cycles.median, row.batches.p999_cycles.median);
  EXPECT_GT(row.batches.p50_cycles.median, 0);
  EXPECT_GT(row.batches.lossless_mpps.median, 0);
}

TEST(TableExperiment, CountsRightlyWithEveryTableAndSizeOfValue) {
  const TableSweep sweep{.tables = all_tables(),
                         .flows = {1, 1000},
                         .zipf = thorough() ? std::vector<double>{0, 1.1} : std::vector<double>{1.1},
                         .value_bytes = {value_sizes().begin(), value_sizes().end()},
                         .rounds = 1,
                         .trace_packets = 1 << 15};
  const auto rows = rows_of(sweep);
  ASSERT_EQ(rows.size(), sweep.tables.size() * combinations(sweep));
  ASSERT_EQ(combinations(sweep), 2 * sweep.zipf.size() * value_sizes().size());
  for (const TableRow& row : rows) {
    SCOPED_TRACE(std::string(row.table->name));
    expect_sound(row);
    EXPECT_TRUE(row.cost.ratio == 1 || row.table != sweep.tables[0]);
    if (row.table->name == "nothing") continue;
    EXPECT_GT(row.memory_bytes, row.table->any_value ? row.size * row.of.shape.value_bytes : 0);
    if (row.table->name == "double-hash" && row.of.flows > 1) {
      EXPECT_GT(row.rejected_share, 0) << "1,000 flows in 1,024 buckets of two";
      EXPECT_LT(row.size, row.of.flows);
      EXPECT_GT(row.accuracy.missing, 0u);
    } else if (row.table->whole_keys) {
      EXPECT_EQ(row.rejected_share, 0);
      EXPECT_EQ(row.size, row.of.flows);
      EXPECT_EQ(row.accuracy.count_error, 0);
      EXPECT_EQ(row.accuracy.precision(), 1);
      EXPECT_EQ(row.accuracy.recall(), 1);
    }
  }
}

TEST(TableExperiment, CountsRightlyUnderEveryTaskKeyLoadAndBatch) {
  for (const TableSweep& sweep :
       {TableSweep{.tables = all_tables(), .flows = {1000}, .key_bytes = {8, 40}, .load = {0.3, 1}, .batch = {7, 256}},
        TableSweep{.tables = all_tables(),
        .flows = {1000},
        .tasks = {Task::heavy_hitter, Task::superspreader, Task::change}}}) {
    TableSweep quick = sweep;
    quick.rounds = 1;
    quick.zipf = {1.1};
    quick.trace_packets = sweep.tasks.size() > 1 ? 1 << 20 : 1 << 18;
    for (const TableRow& row : rows_of(quick)) {
      SCOPED_TRACE(kTaskNames[static_cast<std::size_t>(row.of.shape.task)]);
      expect_sound(row);
      if (row.table->whole_keys && row.rejected_share == 0) {
        EXPECT_EQ(row.accuracy.count_error, 0);
      }
      if (row.of.shape.task != Task::count && row.table->whole_keys) {
        EXPECT_GE(row.accuracy.positives, 1u);
        EXPECT_GT(row.accuracy.recall(), 0.9 - row.rejected_share) << "what was rejected cannot be reported";
        EXPECT_GT(row.accuracy.precision(), 0.9);
      }
    }
  }
}

TEST(TableExperiment, FindsTheHeavyHittersWithEverySketch) {
  const TableSweep sweep{.tables = all_tables(),
                         .flows = {20'000},
                         .zipf = {1.1},
                         .tasks = {Task::heavy_hitter},
                         .rounds = 1,
                         .trace_packets = 1 << 18};
  std::size_t sketches = 0;
  for (const TableRow& row : rows_of(sweep)) {
    if (!row.table->help.starts_with("sketch")) continue;
    SCOPED_TRACE(std::string(row.table->name));
    ++sketches;
    EXPECT_GE(row.accuracy.positives, 50u);
    const std::string_view name = row.table->name;
    const bool replaces = name == "count-array-replace", keyed = replaces || name == "count-array-keys",
               nameless = name == "count-array" || name == "count-array-values";
    if (name != "rte-member-sampled") {
      EXPECT_GE(row.accuracy.recall(), replaces ? 0.5 : 0.98);
      EXPECT_GE(row.accuracy.precision(), nameless ? 0.7 : keyed ? 0.95 : 0.98);
    }
    if (!keyed && (name.starts_with("count-") || name == "space-saving" || name.starts_with("heap"))) {
      EXPECT_EQ(row.accuracy.recall(), 1) << "it is never below the truth";
    }
    if (replaces) {
      EXPECT_EQ(row.accuracy.too_high, 0u);
    }
    EXPECT_LT(row.memory_bytes, 8u << 20);
  }
  EXPECT_GE(sketches, 5u);
}

TEST(TableExperiment, SizesTheHeapByTheLoad) {
  const auto under_test = [](std::string_view name) {
    return &*std::ranges::find(tables_under_test(), name, &TableUnderTest::name);
  };
  const TableSweep sweep{.tables = {under_test("heap"), under_test("heap-values"), under_test("space-saving")},
                         .flows = {40'000},
                         .load = {8, 1},
                         .tasks = {Task::heavy_hitter},
                         .rounds = 1,
                         .trace_packets = 1 << 16};
  const auto rows = rows_of(sweep);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].memory_bytes, rows[2].memory_bytes) << "5,000 keys";
  EXPECT_EQ(rows[1].places, 5000u);
  EXPECT_EQ(rows[4].places, 40'000u);
  EXPECT_EQ(rows[4].size, 40'000u);
  EXPECT_GT(rows[3].memory_bytes, 7 * rows[0].memory_bytes);
  EXPECT_GT(rows[4].memory_bytes, 7 * rows[1].memory_bytes);
  EXPECT_LT(rows[5].memory_bytes, rows[3].memory_bytes / 3) << "10,000 keys at most";
}

/// A packet looks at its bucket, its flow's entry and those before it in the chain, which came later. Probes are of as
/// many packets as there are flows, from the first on: of the t-th of n, uniform, the flow came s n packets from the
/// begin with a density of exp(-s) below t / n, and a share of exp(-s) of all others later; on average 0.716.
TEST(TableExperiment, ChainsEveryFlowHoweverFewBucketsThereAre) {
  const auto under_test = [](std::string_view name) {
    return &*std::ranges::find(tables_under_test(), name, &TableUnderTest::name);
  };
  const auto rows = rows_of({.tables = {under_test("chained-loaded"), under_test("chained")},
                             .flows = {1 << 16},
                             .load = {16, 1, 0.5},
                             .rounds = 1,
                             .trace_packets = 1 << 18});
  ASSERT_EQ(rows.size(), 6u);
  const double loads[] = {16, 1, 0.5}, later = 0.5 + (1 - std::exp(-2)) / 4;
  for (std::size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(loads[i]);
    const TableRow& chains = rows[2 * i];
    EXPECT_EQ(chains.rejected_share, 0);
    EXPECT_EQ(chains.size, 1u << 16);
    EXPECT_EQ(chains.accuracy.count_error, 0);
    EXPECT_EQ(chains.places, static_cast<std::size_t>((1 << 16) / loads[i]));
    EXPECT_NEAR(chains.mean_probes, 1 + 1 + later * loads[i], 0.01 * chains.mean_probes);
  }
  EXPECT_GT(rows[1].rejected_share, 0.8) << "a pool of no more entries than buckets";
  EXPECT_LT(rows[1].mean_probes, 3) << "so that no chain gets long";
}

TEST(TableExperiment, MakesAnArrayOfValuesAsLargeAsTheyAre) {
  const TableUnderTest& array = *std::ranges::find(tables_under_test(), "count-array-values", &TableUnderTest::name);
  EXPECT_EQ(array.memory_bytes(1 << 10, {.value_bytes = 64}), std::size_t{64} << 12);
  EXPECT_EQ(array.memory_bytes(1 << 10, {.value_bytes = 4}), std::size_t{4} << 12);
}

TEST(TableExperiment, LeavesOutWhatDoesNotDoTheTask) {
  const TableUnderTest* sketch = &*std::ranges::find(tables_under_test(), "count-min", &TableUnderTest::name);
  TableSweep sweep{.tables = {all_tables().front(), sketch},
                   .flows = {100},
                   .tasks = {Task::change},
                   .rounds = 1,
                   .trace_packets = 1 << 15};
  const auto rows = rows_of(sweep);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].table, sweep.tables[0]);
  sweep.tables = {sketch};
  const auto measured = measure_tables(
      sweep, [](auto) {}, [] { return false; });
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.error().message, HasSubstr("none of the tables can do it: change"));
}

TEST(TableExperiment, MeasuresBesideANeighbourAndOnSeveralCoresWhereThereAre) {
  TableSweep sweep{.tables = {all_tables().front()}, .flows = {1000}, .rounds = 1, .trace_packets = 1 << 15};
  sweep.beside.clear();
  for (const Neighbour& neighbour : neighbours()) sweep.beside.push_back(&neighbour);
  if (!OnOneCore().others().empty()) {
    const auto rows = rows_of(sweep);
    for (const TableRow& row : rows) expect_sound(row);
    const Part part = table_part(rows);
    const auto footprint = std::ranges::find(table_columns(), "footprint_mb", &Column::name) - table_columns().begin();
    const auto told = [&](std::size_t row) { return part.rows[row][static_cast<std::size_t>(footprint)]; };
    EXPECT_EQ(told(0), Cell(0.0)) << "none";
    EXPECT_EQ(told(1), Cell()) << "cache: as much as this machine has";
    EXPECT_EQ(told(sweep.beside.size() - 1), Cell(256.0));
    sweep.beside = {&neighbours().front()};
    sweep.cores = {2};
    for (const TableRow& row : rows_of(sweep)) expect_sound(row);
  }
  sweep.cores = {OnOneCore().others().size() + 2};
  const auto measured = measure_tables(
      sweep, [](auto) {}, [] { return false; });
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.error().message, HasSubstr("cores are needed"));
}

TEST(TableExperiment, PlaysTheTrafficItIsGiven) {
  const TableSweep sweep{.tables = all_tables(),
                         .flows = {},
                         .traffic = Traffic{.name = "mine", .flows = 3, .zipf = 0, .packets = {0, 1, 2, 1, 1, 0}},
                         .rounds = 1,
                         .heavy_share = 0.4};
  const auto rows = rows_of(sweep);
  ASSERT_EQ(rows.size(), all_tables().size());
  EXPECT_EQ(rows[0].of.traffic, "mine");
  EXPECT_EQ(rows[0].size, 3u);
  EXPECT_EQ(rows[0].accuracy.positives, 1u) << "flow 1 has 3 of 6 packets";
}

/// Answers with the counts it is given.
class Oracle final : public Candidate {
 public:
  explicit Oracle(std::vector<std::uint64_t> counts) : counts_(std::move(counts)) {}
  void run(std::span<const std::uint32_t>) noexcept override {}
  void counts(std::span<std::uint64_t> by_flow) const noexcept override { std::ranges::copy(counts_, by_flow.begin()); }
  std::size_t places() const noexcept override { return 0; }
  std::size_t size() const noexcept override { return counts_.size(); }

 private:
  std::vector<std::uint64_t> counts_;
};

TEST(Accuracy, ComparesWithTheTruthOfTheSamePackets) {
  const std::vector<std::uint32_t> packets{0, 0, 0, 0, 1, 1, 2, 4, 4, 4};
  const EpochTruth truth({.task = Task::count, .flows = 5, .packets = packets, .threshold = 2});  // flows 0 and 4
  const Accuracy right = truth.judge(Oracle({4, 2, 1, 0, 3}));
  EXPECT_EQ(right.flows, 4u);
  EXPECT_EQ(right.precision(), 1);
  EXPECT_EQ(right.recall(), 1);
  EXPECT_EQ(right.count_error, 0);
  const Accuracy wrong = truth.judge(Oracle({4, 3, 0, 9, 1}));
  EXPECT_EQ(wrong.positives, 2u);
  EXPECT_DOUBLE_EQ(wrong.precision(), 1.0 / 3) << "of 0, 1 and 3";
  EXPECT_DOUBLE_EQ(wrong.recall(), 0.5);
  EXPECT_DOUBLE_EQ(wrong.count_error, (0 + 0.5 + 1 + 2.0 / 3) / 4);
  EXPECT_EQ(wrong.missing, 1u);
  EXPECT_EQ(wrong.too_high, 1u);
}

TEST(RandomTraffic, IsAsSkewedAsAskedFor) {
  const Traffic uniform = random_traffic(100, 0, 100'000, 1), skewed = random_traffic(100, 1.5, 100'000, 1);
  const auto first = [](const Traffic& traffic) { return std::ranges::count(traffic.packets, 0u); };
  EXPECT_NEAR(static_cast<double>(first(uniform)), 1000, 150);
  EXPECT_NEAR(static_cast<double>(first(skewed)), 100'000 / 2.4139, 1000) << "the sum of k^-1.5 up to 100";
  EXPECT_NE(random_traffic(100, 0, 100, 2).packets, random_traffic(100, 0, 100, 3).packets);
}

/// Counts all packets of all flows but one.
class Forgetful final : public Candidate {
 public:
  void run(std::span<const std::uint32_t> flows) noexcept override {
    for (const std::uint32_t flow : flows)
      if (flow != 7) ++counts_[flow % counts_.size()];
  }
  void counts(std::span<std::uint64_t> by_flow) const noexcept override { std::ranges::copy(counts_, by_flow.begin()); }
  std::size_t places() const noexcept override { return 0; }
  std::size_t size() const noexcept override { return counts_.size(); }

 private:
  std::array<std::uint64_t, 100> counts_{};
};

TEST(TableExperiment, RefusesToMeasureATableThatCountsWrongly) {
  const TableUnderTest forgetful{"forgetful",
                                 "",
                                 false,
                                 true,
                                 [](std::size_t, const Shape&, std::uint64_t, TaskTally) -> std::unique_ptr<Candidate> {
                                   return std::make_unique<Forgetful>();
                                 },
                                 [](std::size_t, const Shape&) { return std::size_t{0}; }};
  bool handed_over = false;
  const auto measured = measure_tables(
      {.tables = {&forgetful}, .flows = {100}, .zipf = {0}, .value_bytes = {16}}, [&](auto) { handed_over = true; },
      [] { return false; });
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.error().message, HasSubstr("forgetful counted 0 of"));
  EXPECT_FALSE(handed_over);
}

TEST(TableExperiment, RefusesWhatDoesNotFitIntoMemory) {
  const TableUnderTest* linear = &*std::ranges::find(tables_under_test(), "linear", &TableUnderTest::name);
  const auto measured = measure_tables(
      {.tables = std::vector(8, linear), .flows = {TableSweep::kMaxFlows}, .zipf = {0}, .value_bytes = {256}},
      [](auto) {}, [] { return false; });
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.error().message, HasSubstr("name fewer"));
}

TEST(TableExperiment, StopsBetweenCombinationsAndKeepsWhatWasDone) {
  std::size_t done = 0;
  const auto measured = measure_tables(
      {.tables = {all_tables().front()},
       .flows = {10, 20, 30},
       .zipf = {0},
       .value_bytes = {16},
       .rounds = 1,
       .trace_packets = 1 << 12},
      [&](std::span<const TableRow>) { ++done; }, [&] { return done == 2; });
  ASSERT_TRUE(measured);
  EXPECT_EQ(*measured, 2u);
  EXPECT_EQ(done, 2u);
}

}  // namespace
}  // namespace parshall::lab
