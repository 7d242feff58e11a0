// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "lab/keys.hpp"
#include "lab/table_report.hpp"

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

TEST(LabKeys, AreDifferentForEveryFlow) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> keys;
  for (std::uint32_t flow = 0; flow < 100'000; ++flow) {
    keys.emplace_back(key_of(flow).low, key_of(flow).high);
    ASSERT_TRUE(key_of(flow).present());
    ASSERT_EQ(flow_of(key_of(flow)), flow);
  }
  std::ranges::sort(keys);
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
}

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

TEST(TableExperiment, CountsRightlyWithEveryTableAndSizeOfValue) {
  const TableSweep sweep{.tables = all_tables(),
                         .flows = {1, 1000},
                         .zipf = {0, 1.1},
                         .value_bytes = {value_sizes().begin(), value_sizes().end()},
                         .rounds = 1,
                         .trace_packets = 1 << 15};
  const auto rows = rows_of(sweep);
  ASSERT_EQ(rows.size(), sweep.tables.size() * 2 * 2 * value_sizes().size());
  for (const TableRow& row : rows) {
    SCOPED_TRACE(std::string(row.table->name));
    EXPECT_GT(row.cost.median_ns, 0);
    EXPECT_LE(row.cost.low_ns, row.cost.median_ns);
    EXPECT_GE(row.cost.high_ns, row.cost.median_ns);
    EXPECT_TRUE(row.ratio == 1 || row.table != sweep.tables[0]);
    if (row.table->name == "nothing") continue;
    EXPECT_GT(row.memory_bytes, row.size * row.value_bytes);
    if (row.table->name == "double-hash" && row.flows > 1) {
      EXPECT_GT(row.rejected_share, 0) << "1,000 flows in 1,024 buckets of two";
      EXPECT_LT(row.size, row.flows);
    } else {
      EXPECT_EQ(row.rejected_share, 0);
      EXPECT_EQ(row.size, row.flows);
    }
    EXPECT_EQ(row.value_bytes != 0, row.table->any_value);
  }
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
                                 [](std::size_t, std::size_t, std::uint64_t) -> std::unique_ptr<Candidate> {
                                   return std::make_unique<Forgetful>();
                                 },
                                 [](std::size_t, std::size_t) { return std::size_t{0}; }};
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

TableRow row(std::size_t table, double low_ns, double median_ns, double high_ns, double rejected_share = 0,
             std::size_t kept = 15) {
  return {.table = &tables_under_test()[table],
          .flows = 100,
          .zipf = 0,
          .value_bytes = 16,
          .cost = {.median_ns = median_ns, .low_ns = low_ns, .high_ns = high_ns, .kept = kept, .samples = 15},
          .ratio = 1,
          .memory_bytes = 1 << 20,
          .size = 100,
          .places = 256,
          .rejected_share = rejected_share,
          .mean_probes = 1.5};
}

TEST(Verdict, NamesNoWinnerWhereIntervalsOverlap) {
  const auto name = [](std::size_t table) { return std::string(tables_under_test()[table].name); };
  ASSERT_FALSE(tables_under_test()[1].whole_keys);
  const std::string cheapest = "cheapest of those that counted every flow exactly: ";
  EXPECT_EQ(verdict(std::vector{row(0, 1, 2, 3), row(2, 4, 5, 6)}), cheapest + name(0));
  EXPECT_EQ(verdict(std::vector{row(0, 4, 5, 6), row(2, 1, 2, 4)}),
            "no winner: the intervals of " + name(2) + ", " + name(0) + " overlap");
  EXPECT_EQ(verdict(std::vector{row(0, 1, 2, 3), row(2, 4, 5, 5.5), row(3, 2.5, 6, 9)}),
            "no winner: the intervals of " + name(0) + ", " + name(3) + " overlap")
      << "a wide interval behind a narrow one";
  EXPECT_EQ(verdict(std::vector{row(0, 7, 8, 9), row(2, 4, 5, 6), row(3, 1, 2, 3, 0.1)}), cheapest + name(2))
      << "one that rejected packets";
  EXPECT_EQ(verdict(std::vector{row(0, 7, 8, 9), row(1, 1, 2, 3), row(2, 4, 5, 6)}), cheapest + name(2))
      << "one that may merge flows";
  EXPECT_THAT(verdict(std::vector{row(0, 1, 2, 3), row(2, 1, 2, 3, 0.5)}), HasSubstr("nothing to choose from"));
  EXPECT_THAT(verdict(std::vector{row(0, 1, 2, 3), row(2, 4, 5, 6, 0, 5)}),
              HasSubstr("5 undisturbed samples of " + name(2)));
}

TEST(TableFormats, HaveTheSameFiguresInCsvAndJson) {
  const std::vector rows{row(0, 1, 2, 3), row(2, 4, 5, 6, 0.25)};
  std::map<std::string_view, const TableFormat*> formats;
  for (const TableFormat& format : table_formats()) formats[format.name] = &format;
  const auto json = nlohmann::json::parse(formats.at("json")->rows(rows));
  EXPECT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["rows"][1]["ns"], 5.0);
  EXPECT_EQ(json["rows"][1]["rejected_share"], 0.25);
  EXPECT_FALSE(json["machine"]["compiler"].get<std::string>().empty());

  std::istringstream csv(formats.at("csv")->head() + formats.at("csv")->rows(rows));
  std::string head, first, second;
  std::getline(csv, head);
  std::getline(csv, first);
  std::getline(csv, second);
  EXPECT_EQ(std::ranges::count(head, ','), std::ranges::count(first, ','));
  EXPECT_EQ(first, std::string(tables_under_test()[0].name) +
                       ",100,0,16,2.0000,1.0000,3.0000,1.0000,1048576,100,256,1.5000,0,15,15");
  EXPECT_THAT(second, HasSubstr(",0.25,15,15"));
  const std::string text = formats.at("text")->rows(rows);
  EXPECT_THAT(text, HasSubstr("25.00 %"));
  EXPECT_THAT(text, HasSubstr("rejected  samples\n")) << "every column has a head";
  EXPECT_THAT(text, HasSubstr("15/15\n"));
}

}  // namespace
}  // namespace parshall::lab
