// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "oracle.hpp"

namespace parshall {
namespace {

using namespace testing;

constexpr ThreadModel kModels[] = {ThreadModel::run_to_completion, ThreadModel::pipeline, ThreadModel::cooperative};

TEST(SessionStatistics, MomentsOfGapsTimesAndSizesAreThoseOfEachFlowsPackets) {
  const auto traffic = make_traffic({.packets = 60'000, .flows = 500, .zipf_exponent = 1.0});
  const auto& flows = traffic->by_flow();
  for (const ThreadModel model : kModels)
    for (const std::size_t workers : {1u, 3u}) {
      const auto session = make_session({.model = model,
                                         .workers = workers,
                                         .columns = {"gap_mean", "gap_sd", "gap_max", "iat_mean", "iat_sd", "iat_max",
                                                     "size_mean", "size_sd", "size_max"}},
                                        traffic);
      ASSERT_FALSE(session->start());
      const auto rows = rows_of(session->final_report());
      ASSERT_EQ(rows.size(), flows.size());
      for (const Row& row : rows) {
        const Samples samples(flows.at(text_of(row.record.key)), row.record);
        std::size_t column = 0;
        for (const auto* of : {&samples.gaps, &samples.iats, &samples.sizes}) {
          expect_near(row.values[column], mean_of(*of), "mean");
          expect_near(row.values[column + 1], sd_of(*of), "standard deviation");
          expect_near(row.values[column + 2], max_of(*of), "maximum");
          column += 3;
        }
        if (HasFatalFailure())
          FAIL() << "model " << static_cast<int>(model) << ", " << workers << " workers, flow of "
                 << row.record.packets;
      }
    }
}

TEST(SessionStatistics, PercentilesAreWithinTheHistogramsError) {
  const auto traffic = make_traffic({.packets = 60'000, .flows = 300, .zipf_exponent = 1.0});
  const auto& flows = traffic->by_flow();
  const auto session = make_session(
      {.workers = 2, .columns = {"gap_p50", "gap_p99", "iat_p50", "iat_p99", "size_p50", "size_p99"}}, traffic);
  ASSERT_FALSE(session->start());
  const auto rows = rows_of(session->final_report());
  ASSERT_EQ(rows.size(), flows.size());
  for (const Row& row : rows) {
    Samples samples(flows.at(text_of(row.record.key)), row.record);
    std::size_t column = 0;
    for (auto* of : {&samples.gaps, &samples.iats, &samples.sizes}) {
      std::ranges::sort(*of);
      for (const double p : {0.5, 0.99}) {
        const auto& value = row.values[column++];
        ASSERT_EQ(value.has_value(), !of->empty());
        if (of->empty()) continue;
        const double last = static_cast<double>(of->size() - 1), rank = p * last;
        const double low = (*of)[static_cast<std::size_t>(std::max(0.0, std::floor(rank) - 1))];
        const double high = (*of)[static_cast<std::size_t>(std::min(last, std::ceil(rank) + 1))];
        ASSERT_GE(*value, 0.95 * low) << "column " << column - 1;
        ASSERT_LE(*value, 1.05 * high) << "column " << column - 1;
      }
    }
  }
}

TEST(SessionStatistics, RecordsThatWereEvictedOrTimedOutCarryTheStatisticsOfAllTheirPackets) {
  const auto traffic = make_traffic({.packets = 60'000, .flows = 2000, .zipf_exponent = 1.0});
  for (const ThreadModel model : kModels)
    for (const Timeouts timeouts : {Timeouts{}, Timeouts{.idle_ns = 1'000'000, .active_ns = 10'000'000}}) {
      const auto session = make_session({.model = model,
                                         .workers = 2,
                                         .flows = 50,
                                         .timeouts = timeouts,
                                         .columns = {"gap_mean", "iat_max", "size_mean"}},
                                        traffic);
      ASSERT_FALSE(session->start());
      const Report report = session->final_report();
      EXPECT_GT(report.summary.total[Counter::evicted_records], 100u);
      const auto rows = rows_of(report);
      expect_exact(rows, *traffic);
      expect_complete_statistics(rows, *traffic);
      if (HasFatalFailure()) return;
    }
}

TEST(SessionStatistics, TheIntervalRateIsNeverMoreThanAllOfTheIntervalsPackets) {
  const auto traffic = make_traffic({.packets = 100'000, .flows = 50, .others = false});
  Gate gate(*traffic, 20);
  const auto session =
      make_session({.timeouts = {.active_ns = 5'000'000}, .columns = {"interval_rate_pps"}}, traffic, gate.behaviour());
  ASSERT_FALSE(session->start());
  int reports = 0;
  for (gate.open_further(); const auto report = session->snapshot(); gate.open_further()) {
    for (const Row& row : rows_of(*report)) {
      if (!row.values[0]) continue;
      ASSERT_GE(*row.values[0], 0);
      ASSERT_LT(*row.values[0], 1e9) << "one packet a nanosecond at the most";
    }
    ++reports;
    session->confirm_written();
  }
  EXPECT_GE(reports, 19);
}

}  // namespace
}  // namespace parshall
