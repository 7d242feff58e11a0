// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/outputs.hpp"

#include <gtest/gtest.h>

#include "../large_event.hpp"
#include "../resident_bytes.hpp"
#include "pipeline/output/recent_events.hpp"
#include "record_bytes.hpp"

namespace parshall {
namespace {

using namespace std::chrono_literals;

/// What came to an exporter, which may fail.
struct Seen {
  std::vector<std::uint64_t> packets;
  std::vector<std::string> tasks;
  std::vector<double> thresholds;
  std::optional<OutputSummary> own;  ///< as it was told of itself
  std::atomic<bool> fails{false};
};

class Watcher final : public Exporter {
 public:
  explicit Watcher(Seen& seen) : seen_(seen) {}
  void records(std::span<const ReportFlow> batch) override {
    for (const ReportFlow& flow : batch) seen_.packets.push_back(flow.record.packets);
  }
  void event(const Event& event) override { seen_.tasks.push_back(event.task); }
  void recall(const WindowRecall& told) override { seen_.thresholds.push_back(told.threshold); }
  void accounting(const ReportSummary&, const OutputSummary& own) override { seen_.own = own; }
  FlushOutcome flush() override {
    FlushOutcome outcome;
    if (seen_.fails) outcome.error = Error{"the disk is full"};
    return outcome;
  }

 private:
  Seen& seen_;
};

/// A report with one flow that ended and was given back, and a live one.
struct Last {
  Schema schema;
  FlowRecord ended{.key = {}, .packets = 1}, live{.key = {}, .packets = 1000};
  std::vector<Value> values = std::vector<Value>(kBaseColumns);

  Report report() {
    Report report;
    report.columns = schema.columns();
    report.flows = [this](const auto& visit) {
      visit({ended, values});
      visit({live, values});
    };
    report.live = [this](const auto& visit) { visit({live, values}); };
    return report;
  }
};

class SeveralOutputs : public ::testing::Test {
 protected:
  void add(Seen& seen, ExporterTakes takes, bool gives_back = false) {
    ExportOptions options{.name = "output " + std::to_string(outputs_.queues()->size()), .takes = takes, .waits = true};
    if (gives_back)
      options.give_back = [this](std::span<const std::byte> record) {
        back_.push_back(RecordView(record).header.record.packets);
      };
    outputs_.add(std::make_unique<Watcher>(seen), std::move(options));
  }
  void finish() {
    ASSERT_TRUE(outputs_.unfinished_after(10s).empty());
    Last last;
    outputs_.write_last(last.report());
  }

  Seen first_, second_, third_;
  std::vector<std::uint64_t> back_;
  Outputs outputs_{Schema()};
};

TEST_F(SeveralOutputs, EachGetsWhatItTakes) {
  add(first_, {.records = true, .findings = false});
  add(second_, {.records = false, .findings = true});
  add(third_, {.records = true, .findings = true});
  RecentEvents direct;
  outputs_.add_direct(direct);
  outputs_.come_round();
  for (const std::uint64_t packets : {5, 6, 7}) EXPECT_EQ(outputs_.put(record_bytes(packets)), ExportQueue::Put::taken);
  outputs_.put(Event{.task = "scan"});
  outputs_.put(WindowRecall{.task = "scan", .threshold = 0.5});
  EXPECT_EQ(direct.all().latest.size(), 1u) << "at once";
  finish();
  for (const Seen* const seen : {&first_, &third_}) {
    EXPECT_EQ(seen->packets, (std::vector<std::uint64_t>{5, 6, 7, 1000}));
    ASSERT_TRUE(seen->own);
    EXPECT_EQ(seen->own->offered.records, 4u) << "it is told of the live flows, too";
    EXPECT_EQ(seen->own->written.packets, 1018u);
    EXPECT_EQ(seen->own->waiting(), OutputSummary::Sum());
  }
  for (const Seen* const seen : {&second_, &third_}) {
    EXPECT_EQ(seen->tasks, std::vector<std::string>{"scan"});
    EXPECT_EQ(seen->thresholds, std::vector<double>{0.5});
  }
  EXPECT_TRUE(first_.tasks.empty());
  EXPECT_TRUE(second_.packets.empty());
  EXPECT_FALSE(second_.own);
  EXPECT_EQ(outputs_.summaries()[1].written, (OutputSummary::Sum{.findings = 2}));
}

TEST_F(SeveralOutputs, OneMayComeAndGoWhileTheOthersGoOn) {
  add(first_, {.records = true, .findings = false});
  outputs_.come_round();
  outputs_.put(record_bytes(5));
  add(second_, {.records = true, .findings = false});
  outputs_.come_round();
  outputs_.put(record_bytes(6));
  OutputSummary gone;
  std::atomic<bool> removed{false};
  std::thread remover([&] {
    gone = outputs_.remove(*(*outputs_.queues())[0], {}, 10s);
    removed = true;
  });
  while (!removed) {
    outputs_.come_round();
    std::this_thread::sleep_for(1ms);
  }
  remover.join();
  outputs_.put(record_bytes(7));
  finish();
  EXPECT_EQ(first_.packets, (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(second_.packets, (std::vector<std::uint64_t>{6, 7, 1000}));
  for (const Seen* const seen : {&first_, &second_}) {
    ASSERT_TRUE(seen->own);
    EXPECT_FALSE(seen->own->whole_run);
    EXPECT_EQ(seen->own->written, seen->own->offered);
  }
  EXPECT_EQ(gone.written.packets, 11u);
  const auto summaries = outputs_.summaries();
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[1].name, "output 0") << "it is told of, last";
}

TEST_F(SeveralOutputs, OneThatIsRemovedWhileNobodyHandsOverIsGoneAllTheSame) {
  add(first_, {.records = true, .findings = false});
  outputs_.come_round();
  outputs_.put(record_bytes(5));
  const OutputSummary gone = outputs_.remove(*(*outputs_.queues())[0], {}, 50ms);
  EXPECT_EQ(gone.offered.packets, 5u);
  EXPECT_EQ(gone.waiting(), OutputSummary::Sum());
  EXPECT_TRUE(outputs_.queues()->empty());
}

TEST_F(SeveralOutputs, ManyThatCameAndWentAreAddedUp) {
  constexpr std::uint64_t kTimes = 100;
  for (std::uint64_t i = 1; i <= kTimes; ++i) {
    add(first_, {.records = true, .findings = false});
    outputs_.come_round();
    outputs_.put(record_bytes(i));
    outputs_.remove(*(*outputs_.queues())[0], {}, 1ms);
  }
  const auto summaries = outputs_.summaries();
  EXPECT_EQ(summaries.size(), 32u);
  EXPECT_EQ(summaries[0].name, "earlier outputs");
  EXPECT_EQ(summaries[1].name, "output 0") << "the latest are each for itself";
  std::uint64_t offered = 0;
  for (const OutputSummary& summary : summaries) offered += summary.offered.packets;
  EXPECT_EQ(offered, kTimes * (kTimes + 1) / 2);
}

TEST_F(SeveralOutputs, OneThatFailsCostsTheOthersNothing) {
  add(first_, {.records = true, .findings = true}, /*gives_back=*/true);
  add(second_, {.records = true, .findings = true});
  first_.fails = true;
  outputs_.come_round();
  outputs_.put(record_bytes(5));
  outputs_.put(Event{.task = "scan"});
  while (!(*outputs_.queues())[0]->failed()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(outputs_.put(record_bytes(6)), ExportQueue::Put::given_back);
  outputs_.put(Event{.task = "flood"});
  finish();
  EXPECT_EQ(back_, std::vector<std::uint64_t>{5}) << "and 6 was not taken";
  EXPECT_EQ(second_.packets, (std::vector<std::uint64_t>{5, 6, 1000})) << "what was given back is not for it";
  EXPECT_EQ(second_.tasks, (std::vector<std::string>{"scan", "flood"}));
  EXPECT_FALSE(first_.own);
  const OutputSummary failed = outputs_.summaries()[0];
  EXPECT_EQ(failed.offered.packets, 1011u);
  EXPECT_EQ(failed.dropped, failed.offered);
  EXPECT_EQ(failed.dropped.findings, 2u);
}

/// Writes nothing, until it is let go.
class Stuck final : public Exporter {
 public:
  void event(const Event&) override { going_.wait(false); }
  void go() {
    going_.store(true);
    going_.notify_all();
  }

 private:
  std::atomic<bool> going_{false};
};

TEST_F(SeveralOutputs, AbandonedOnesWaitForNobody) {
  auto owned = std::make_unique<Stuck>();
  Stuck& stuck = *owned;
  outputs_.add(std::move(owned), {.name = "stuck", .takes = {.records = false, .findings = true}});
  outputs_.come_round();
  outputs_.abandon();
  for (std::size_t i = 0; i < 2 * ExportQueue::kFindings; ++i) outputs_.put(Event{.task = "scan"});
  const OutputSummary summary = outputs_.summaries()[0];
  EXPECT_EQ(summary.offered.findings, 2 * ExportQueue::kFindings);
  EXPECT_GT(summary.dropped.findings, 0u);
  stuck.go();
}

TEST_F(SeveralOutputs, FindingsThatWaitTakeTheMemorySaidHoweverLargeTheyAre) {
  constexpr std::uint64_t kSlack = 4 << 20;  // the C library's own
  auto owned = std::make_unique<Stuck>();
  Stuck& stuck = *owned;
  outputs_.add(std::move(owned), {.name = "stuck", .takes = {.records = false, .findings = true}});
  outputs_.come_round();
  const std::uint64_t said = outputs_.memory_bytes(), before = resident_bytes();
  EXPECT_GT(said, 0u);
  for (std::size_t i = 0; i < ExportQueue::kFindings; ++i) outputs_.put(large_event());
  const std::uint64_t after = resident_bytes();
  EXPECT_GT(outputs_.summaries()[0].dropped.findings, 0u);
  stuck.go();
  if (!kSanitized) {
    EXPECT_LT(after, before + said + kSlack);
  }
}

TEST(RecentEvents, TakeTheMemorySaidHoweverLargeTheyAre) {
  constexpr std::uint64_t kSlack = 4 << 20;  // the C library's own
  const std::uint64_t before = resident_bytes();
  RecentEvents events;
  for (std::size_t i = 0; i < RecentEvents::kMost; ++i) events.event(large_event());
  const RecentEvents::Events all = events.all();
  EXPECT_GT(all.left_out, 0u);
  EXPECT_EQ(all.left_out + all.latest.size(), RecentEvents::kMost);
  if (!kSanitized) {
    EXPECT_LT(resident_bytes(), before + RecentEvents::memory_bytes() + kSlack);
  }
}

TEST(RecentEvents, ForgetsWhatWasReportedAndCountsWhatHadNoRoom) {
  RecentEvents events;
  for (std::size_t i = 0; i < RecentEvents::kMost + 5; ++i) events.event(Event{.task = std::to_string(i)});
  const RecentEvents::Events reported = events.all();
  EXPECT_EQ(reported.latest.size(), RecentEvents::kMost);
  EXPECT_EQ(reported.latest.front().task, "5");
  EXPECT_EQ(reported.left_out, 5u);
  for (const std::string_view later : {"x", "y"}) events.event(Event{.task = std::string(later)});
  events.forget(reported);
  const RecentEvents::Events rest = events.all();
  ASSERT_EQ(rest.latest.size(), 2u);
  EXPECT_EQ(rest.latest.front().task, "x");
  EXPECT_EQ(rest.left_out, 0u) << "those that x and y pushed out were reported";
  EXPECT_EQ(events.latest(1).front().task, "y");
}

}  // namespace
}  // namespace parshall
