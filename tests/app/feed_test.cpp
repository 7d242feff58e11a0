// SPDX-License-Identifier: Apache-2.0
#include "app/live/feed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports.hpp"

namespace parshall::live {
namespace {

using namespace std::chrono_literals;

/// A run of two flows that lasts until told; each snapshot takes a while.
class FakeRun final : public Watched {
 public:
  std::uint64_t packets_polled() const override { return 0; }
  bool finished() const override { return finished_; }
  void begin_snapshot() override {
    ready_at_ = std::chrono::steady_clock::now() + snapshot_takes.load();
    begun = true;
  }
  std::optional<Report> poll_snapshot() override {
    if (std::chrono::steady_clock::now() < ready_at_) return std::nullopt;
    ++snapshots;
    return made_.report(++number_, 1);
  }
  Report final_report() override { return made_.report(++number_, 2, /*final=*/true); }
  void change_columns(Schema schema) override { columns_count = schema.asked().size(); }

  void finish() { finished_ = true; }

  std::atomic<std::chrono::milliseconds> snapshot_takes{1ms};
  std::atomic<bool> begun{false};
  std::atomic<int> snapshots{0};
  std::atomic<std::size_t> columns_count{99};

 private:
  MadeReport made_{.flows = {flow(1, 5), flow(2, 9, 17)}, .columns = {}, .values = {}};
  std::atomic<bool> finished_{false};
  std::chrono::steady_clock::time_point ready_at_;
  std::uint64_t number_ = 0;
};

template <class Condition>
bool within(std::chrono::milliseconds most, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

TEST(LiveFeed, ComesWithRatesWithinASecond) {
  FakeRun run;
  Feed feed(run, {}, {});
  EXPECT_TRUE(within(1500ms, [&] { return feed.latest() && feed.latest()->summary.number >= 2; }));
}

TEST(LiveFeed, AnswersWhileASnapshotIsBeingMade) {
  FakeRun run;
  Feed feed(run, {}, {});
  ASSERT_TRUE(within(3s, [&] { return run.snapshots == 1; }));
  run.begun = false;
  run.snapshot_takes = 60s;  // of the next one
  ASSERT_TRUE(within(3s, [&] { return run.begun.load(); }));
  feed.wish({{.filter = "udp"}, {}, false});
  EXPECT_TRUE(within(1s, [&] { return feed.latest()->matched == 1; }));
}

TEST(LiveFeed, TakesNoSnapshotWhilePausedButStillFilters) {
  FakeRun run;
  Feed feed(run, {}, {});
  ASSERT_TRUE(within(3s, [&] { return feed.latest() != nullptr; }));
  feed.wish({{.filter = {}}, {}, true});
  std::this_thread::sleep_for(100ms);  // one may have been on its way
  const int before = run.snapshots;
  feed.wish({{.filter = "udp"}, {}, true});
  EXPECT_TRUE(within(1s, [&] { return feed.latest()->matched == 1; }));
  std::this_thread::sleep_for(1300ms);
  EXPECT_EQ(run.snapshots, before);
}

TEST(LiveFeed, ChangesTheColumnsOfTheRun) {
  FakeRun run;
  Feed feed(run, {}, {});
  feed.wish({{.filter = {}}, {.of = Of::gap, .what = What::percentiles}, false});
  EXPECT_TRUE(within(1s, [&] { return run.columns_count == 3; }));
  feed.wish({{.filter = {}}, {.level = Level::packet}, false});
  EXPECT_TRUE(within(1s, [&] { return run.columns_count == 0; }));
}

TEST(LiveFeed, TellsWhetherTheRunHasOtherColumns) {
  for (const bool other : {false, true}) {
    FakeRun run;
    Feed feed(run, {}, {});
    if (other) {
      feed.wish({{}, {.of = Of::gap, .what = What::percentiles}, false});
      EXPECT_TRUE(within(1s, [&] { return run.columns_count == 3; }));
    }
    feed.stop();
    EXPECT_EQ(feed.has_other_columns(), other);
  }
}

TEST(LiveFeed, AfterTheEndShowsTheFinalReportAndHandsItOver) {
  FakeRun run;
  Feed feed(run, {}, {});
  run.finish();
  EXPECT_TRUE(within(3s, [&] { return feed.latest() && feed.latest()->summary.final; }));
  feed.wish({{.filter = "udp"}, {}, false});
  EXPECT_TRUE(within(1s, [&] { return feed.latest()->matched == 1; }));
  feed.stop();
  EXPECT_TRUE(feed.take_final().has_value());
}

TEST(LiveFeed, StopsInTheMiddleOfASnapshot) {
  FakeRun run;
  run.snapshot_takes = 60s;
  Feed feed(run, {}, {});
  ASSERT_TRUE(within(3s, [&] { return run.begun.load(); }));
  const auto began = std::chrono::steady_clock::now();
  feed.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1s);
  EXPECT_FALSE(feed.take_final().has_value());
}

}  // namespace
}  // namespace parshall::live
