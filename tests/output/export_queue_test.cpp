// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/queue/export_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "record_bytes.hpp"

namespace parshall {
namespace {

using namespace std::chrono_literals;

/// What came to an exporter, which writes when it may, and fails when it is told to.
struct Desk {
  std::mutex mutex;
  std::condition_variable opens;
  bool open = true, fails = false;
  int began = 0, flushes = 0;
  std::atomic<int> begun_anew{0};
  std::vector<std::uint64_t> buffered, written;  ///< packets of each record
};

class DeskExporter final : public Exporter {
 public:
  explicit DeskExporter(Desk& desk) : desk_(desk) {}
  void begin_anew() override { ++desk_.begun_anew; }
  void begin(std::span<const ColumnInfo> columns) override {
    const std::lock_guard lock(desk_.mutex);
    ++desk_.began;
    columns_ = columns.size();
  }
  void records(std::span<const ReportFlow> batch) override {
    std::unique_lock lock(desk_.mutex);
    desk_.opens.wait(lock, [this] { return desk_.open; });
    for (const ReportFlow& flow : batch) {
      ASSERT_EQ(flow.values.size(), columns_);
      ASSERT_EQ(flow.values[6].as_unsigned(), flow.record.packets);
      desk_.buffered.push_back(flow.record.packets);
    }
  }
  FlushOutcome flush() override {
    const std::lock_guard lock(desk_.mutex);
    ++desk_.flushes;
    if (desk_.fails) error_ = Error{"the disk is full"};
    if (!error_) desk_.written.insert(desk_.written.end(), desk_.buffered.begin(), desk_.buffered.end());
    desk_.buffered.clear();
    FlushOutcome outcome;
    outcome.error = error_;
    return outcome;
  }

 private:
  Desk& desk_;
  std::optional<Error> error_;
  std::size_t columns_ = 0;
};

class ExportQueues : public ::testing::Test {
 protected:
  std::unique_ptr<ExportQueue> make(bool waits, std::size_t bytes = std::size_t{1} << 16) {
    const auto give_back = [this](std::span<const std::byte> record) {
      back_.push_back(RecordView(record).header.record.packets);
    };
    return std::make_unique<ExportQueue>(
        std::make_unique<DeskExporter>(desk_), Schema(),
        ExportOptions{.name = "desk", .waits = waits, .give_back = give_back, .bytes = bytes});
  }
  void set_open(bool open) {
    const std::lock_guard lock(desk_.mutex);
    desk_.open = open;
    desk_.opens.notify_all();
  }
  static void expect_account(const OutputSummary& account, std::uint64_t offered) {
    EXPECT_EQ(account.offered.records, offered);
    EXPECT_EQ(account.offered.packets, offered * (offered + 1) / 2);
    EXPECT_EQ(account.waiting(), OutputSummary::Sum());
  }

  Desk desk_;
  std::vector<std::uint64_t> back_;
};

TEST_F(ExportQueues, WritesAllThatWaitsInOrder) {
  constexpr std::uint64_t kRecords = 10'000;  // many times what the queue holds
  const auto queue = make(/*waits=*/true);
  for (std::uint64_t i = 1; i <= kRecords; ++i) ASSERT_EQ(queue->put(record_bytes(i)), ExportQueue::Put::taken);
  ASSERT_TRUE(queue->finished_within(10s));
  ASSERT_EQ(desk_.written.size(), kRecords);
  for (std::uint64_t i = 1; i <= kRecords; ++i) ASSERT_EQ(desk_.written[i - 1], i);
  expect_account(queue->summary(), kRecords);
  EXPECT_EQ(queue->summary().written.records, kRecords);
  EXPECT_EQ(desk_.began, 1);
  EXPECT_TRUE(back_.empty());
}

TEST_F(ExportQueues, FailsWhereNotEvenTheBeginningIsWritten) {
  const auto queue = make(/*waits=*/true);
  desk_.fails = true;
  ASSERT_TRUE(queue->finished_within(10s));
  EXPECT_EQ(desk_.began, 1);
  EXPECT_TRUE(queue->failed());
}

TEST_F(ExportQueues, DropsTheNewestAndCountsThemWhereTheSourceDoesNotWait) {
  constexpr std::uint64_t kRecords = 10'000;
  const auto queue = make(/*waits=*/false);
  set_open(false);
  std::uint64_t taken = 0;
  bool dropped = false;
  for (std::uint64_t i = 1; i <= kRecords; ++i) {
    const bool took = queue->put(record_bytes(i)) == ExportQueue::Put::taken;
    taken += took;
    dropped |= !took;
  }
  EXPECT_TRUE(dropped);
  EXPECT_FALSE(queue->finished_within(50ms)) << "nobody reads";
  const OutputSummary stuck = queue->summary();
  EXPECT_EQ(stuck.waiting().records, taken);
  EXPECT_EQ(stuck.dropped.records, kRecords - taken);
  set_open(true);
  ASSERT_TRUE(queue->finished_within(10s));
  EXPECT_EQ(desk_.written.size(), taken);
  expect_account(queue->summary(), kRecords);
  EXPECT_EQ(queue->summary().dropped.records, kRecords - taken);
  for (std::uint64_t i = 1; i <= 10; ++i) EXPECT_EQ(desk_.written[i - 1], i) << "the oldest stay";
}

TEST_F(ExportQueues, GivesBackWhatAFailedExporterHasNotWritten) {
  constexpr std::uint64_t kRecords = 2'000;
  const auto queue = make(/*waits=*/true);
  for (std::uint64_t i = 1; i <= 100; ++i) queue->put(record_bytes(i));
  while (queue->summary().written.records != 100) std::this_thread::sleep_for(1ms);
  {
    const std::lock_guard lock(desk_.mutex);
    desk_.fails = true;
  }
  std::vector<std::uint64_t> refused;
  for (std::uint64_t i = 101; i <= kRecords; ++i)
    if (queue->put(record_bytes(i)) == ExportQueue::Put::given_back) refused.push_back(i);
  ASSERT_TRUE(queue->finished_within(10s));
  EXPECT_TRUE(queue->failed());
  EXPECT_EQ(desk_.written.size(), 100u);
  // Every record is written, or given back, in order.
  back_.insert(back_.end(), refused.begin(), refused.end());
  ASSERT_EQ(back_.size(), kRecords - 100);
  for (std::uint64_t i = 101; i <= kRecords; ++i) ASSERT_EQ(back_[i - 101], i);
  expect_account(queue->summary(), kRecords);
}

TEST_F(ExportQueues, LeavesNothingOfARunThatNeverBegan) {
  make(/*waits=*/true).reset();
  EXPECT_EQ(desk_.began, 0);
  const auto queue = make(/*waits=*/true);
  ASSERT_TRUE(queue->finished_within(10s));
  EXPECT_EQ(desk_.began, 1) << "a run without records has a header";
}

TEST_F(ExportQueues, WhatAnEarlierRunLeftGoesOnceThisOneGoesOnThoughNothingComes) {
  const auto queue = make(/*waits=*/true);
  EXPECT_EQ(desk_.begun_anew, 0);
  queue->note_run_began();
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (desk_.begun_anew == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(desk_.begun_anew, 1);
}

TEST_F(ExportQueues, WritesWithinAMomentThoughNothingMoreComes) {
  const auto queue = make(/*waits=*/true);
  queue->put(record_bytes(1));
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (queue->summary().written.records == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(queue->summary().written.records, 1u);
}

/// The queue falls asleep and is woken all the time: neither may wait for a lock that the other one holds.
TEST_F(ExportQueues, TakesFindingsThatComeAsItFallsAsleep) {
  ExportQueue queue(std::make_unique<DeskExporter>(desk_), Schema(),
                    ExportOptions{.name = "desk", .takes = {.records = false, .findings = true}, .waits = true});
  constexpr std::uint64_t kFindings = 20'000;
  auto next = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < kFindings; ++i) {
    queue.put(Event{});
    next += std::chrono::nanoseconds(i * 37 % 60'000);
    while (std::chrono::steady_clock::now() < next) continue;
  }
  ASSERT_TRUE(queue.finished_within(10s));
  EXPECT_EQ(queue.summary().written.findings, kFindings);
}

}  // namespace
}  // namespace parshall
