// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>

#include "run.hpp"

namespace parshall {
namespace {

using namespace testing;

TEST(Session, ALiveSourceThatOutrunsTheMonitorLosesPacketsToTheFullRingAndSaysHowMany) {
  // Every packet starts a flow in a table of its own statistics rows: slower than receiving.
  const auto traffic = make_traffic({.packets = 200'000, .flows = 100'000, .others = false});
  const auto session = make_session(
      {.model = ThreadModel::pipeline, .flows = 100'000, .columns = {"gap_p99", "iat_p99"}, .ring_packets = 64},
      traffic, {.lossless = false});
  ASSERT_FALSE(session->start());
  const Report report = session->final_report();
  const Accounting& total = report.summary.total;
  expect_balanced(total);
  EXPECT_GT(total[Counter::ring_full], 0u);
  EXPECT_EQ(total[Counter::polled], 200'000u);
  EXPECT_EQ(total[Counter::ring_full] + total.counted(), 200'000u);
  EXPECT_EQ(packets_in(rows_of(report)), total.counted());
  EXPECT_EQ(total.lost(), total[Counter::ring_full]);
}

TEST(Session, PacketsOutOfOrderDoNotHideTheLatestTime) {
  auto traffic = std::make_shared<Traffic>();
  for (std::uint64_t i = 0; i < 96; ++i) traffic->add_ip(i % 10, kStartNs + (i % 8 == 3 ? 1'000'000 + i : i), 10);
  const auto session = make_session({}, traffic);
  ASSERT_FALSE(session->start());
  const Report report = session->final_report();
  std::uint64_t latest = 0;
  for (const Row& row : rows_of(report)) latest = std::max(latest, row.record.last_ns);
  EXPECT_EQ(report.summary.last_ns(), latest);
}

TEST(Session, AnInputThatEndsEarlyForOneReaderHoldsUpNoReportOfTheOthers) {
  Input input{.description = "", .sources = {}, .dealing = Dealing::all_to_each, .owner = nullptr, .device = nullptr};
  for (const std::size_t packets : {20'000u, 500u})  // as of a file that is cut while it is read
    input.sources.push_back(
        std::make_unique<ListSource>(make_traffic({.packets = packets, .others = false}), Behaviour{}));
  const auto traffic = make_traffic({.packets = 20'000, .others = false});
  const auto span_ns = traffic->sent()[19'999].time_ns - traffic->sent()[0].time_ns;
  SessionOptions options = options_of({.workers = 2});
  options.limits.pause_every_ns = span_ns / 10;
  Session session(std::move(input), options, schema_of({}));
  ASSERT_FALSE(session.start());
  std::size_t reports = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!session.finished() && std::chrono::steady_clock::now() < until) {
    if (!session.paused()) continue;
    reports += session.snapshot().has_value();
    session.go_on();
  }
  EXPECT_TRUE(session.finished());
  EXPECT_GE(reports, 9u);
  expect_balanced(session.final_report().summary.total);
}

TEST(Session, ReadLimitsStopAtThePacketThatTheyName) {
  const auto traffic = make_traffic({.packets = 10'000, .others = false});
  for (const std::size_t workers : {1u, 2u}) {
    Input input{.description = "", .sources = {}, .dealing = Dealing::all_to_each, .owner = nullptr, .device = nullptr};
    for (std::size_t i = 0; i < workers; ++i)
      input.sources.push_back(std::make_unique<ListSource>(traffic, Behaviour{}));
    SessionOptions options = options_of({.workers = workers});
    options.limits.packets = 777;
    Session session(std::move(input), options, schema_of({}));
    ASSERT_FALSE(session.start());
    const Report report = session.final_report();
    EXPECT_EQ(report.summary.total.counted(), 777u);
    expect_balanced(report.summary.total);
  }
  Input input{.description = "", .sources = {}, .dealing = Dealing::all_to_each, .owner = nullptr, .device = nullptr};
  input.sources.push_back(std::make_unique<ListSource>(traffic, Behaviour{}));
  SessionOptions options = options_of({});
  options.limits.packet_time_ns = traffic->sent()[500].time_ns - traffic->sent()[0].time_ns;
  Session session(std::move(input), options, schema_of({}));
  ASSERT_FALSE(session.start());
  EXPECT_EQ(session.final_report().summary.total.counted(), 501u);
}

/// Two queues of a device: one falls silent for good, the other has reached its end.
TEST(Session, ASnapshotComesAlthoughOneWorkerHasLeft) {
  Input input{.description = "", .sources = {}, .dealing = Dealing::by_device, .owner = nullptr, .device = nullptr};
  const auto traffic = make_traffic({.packets = 5000, .others = false});
  input.sources.push_back(std::make_unique<ListSource>(traffic, Behaviour{}));
  input.sources.push_back(std::make_unique<ListSource>(traffic, Behaviour{.endless = true}));
  Session session(std::move(input), options_of({.workers = 2}), schema_of({}));
  ASSERT_FALSE(session.start());
  for (int i = 0; i < 500 && session.packets_polled() < 10'000; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for the first worker to leave
  std::atomic<bool> came{false};
  std::thread watchdog([&] {
    for (int i = 0; i < 500 && !came; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    session.stop();
  });
  const auto report = session.snapshot();
  came = true;
  watchdog.join();
  ASSERT_TRUE(report) << "the report waited for a worker that was gone until the run was stopped";
  EXPECT_EQ(report->summary.total.counted(), 10'000u);
  expect_balanced(session.final_report().summary.total);
}

/// A queue on which nothing comes, and which loses what it is told to.
class LossyQueue final : public PacketSource {
 public:
  explicit LossyQueue(const std::atomic<std::uint64_t>& missed) : missed_(missed) {}
  std::size_t poll(std::span<RawPacket>) noexcept override { return 0; }
  bool exhausted() const noexcept override { return false; }
  bool lossless() const noexcept override { return false; }
  Counters counters() noexcept override {
    Counters counters;
    counters.set(Counter::nic_missed, missed_.load());
    return counters;
  }

 private:
  const std::atomic<std::uint64_t>& missed_;
};

TEST(Session, WhatQueuesLostAddsUpInEachReportWhateverIsLostMeanwhile) {
  for (const ThreadModel model : {ThreadModel::run_to_completion, ThreadModel::pipeline}) {
    std::array<std::atomic<std::uint64_t>, 2> missed{};
    Input input{.description = "", .sources = {}, .dealing = Dealing::by_device, .owner = nullptr, .device = [&] {
                  Counters all;  // read later than the queues, each of which lost one more
                  all.set(Counter::nic_missed, ++missed[0] + ++missed[1]);
                  all.set(Counter::nic_error, 5);  // of all queues together
                  return all;
                }};
    for (const auto& queue : missed) input.sources.push_back(std::make_unique<LossyQueue>(queue));
    Session session(std::move(input), options_of({.model = model, .workers = 2}), schema_of({}));
    ASSERT_FALSE(session.start());
    missed[0] = 700, missed[1] = 30;
    const auto report = session.snapshot();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->summary.total[Counter::nic_missed], 730u) << "what they had lost by then";
    EXPECT_EQ(report->summary.total[Counter::nic_error], 5u) << "what no queue tells";
    std::uint64_t of_lanes = 0;
    for (const WorkerSummary& worker : report->summary.workers) of_lanes += worker.accounting[Counter::nic_missed];
    for (const WorkerSummary& lane : report->summary.receivers) of_lanes += lane.accounting[Counter::nic_missed];
    EXPECT_EQ(of_lanes, 730u);
    session.stop();
    const Report last = session.final_report();
    of_lanes = 0;
    for (const WorkerSummary& worker : last.summary.workers) of_lanes += worker.accounting[Counter::nic_missed];
    for (const WorkerSummary& lane : last.summary.receivers) of_lanes += lane.accounting[Counter::nic_missed];
    EXPECT_EQ(last.summary.total[Counter::nic_missed], of_lanes);
    EXPECT_GE(of_lanes, 730u);
  }
}

TEST(Session, QueuesThatShareAFlowAreAddedUpInTheReport) {
  Input input{.description = "", .sources = {}, .dealing = Dealing::by_device, .owner = nullptr, .device = nullptr};
  const auto traffic = make_traffic({.packets = 20'000, .others = false});
  for (int i = 0; i < 2; ++i) input.sources.push_back(std::make_unique<ListSource>(traffic, Behaviour{}));
  Session session(std::move(input), options_of({.workers = 2}), schema_of({"size_mean"}));
  ASSERT_FALSE(session.start());
  const Report report = session.final_report();
  const auto rows = rows_of(report);
  const auto& flows = traffic->by_flow();
  ASSERT_EQ(rows.size(), flows.size());
  for (const Row& row : rows) {
    const auto& packets = flows.at(text_of(row.record.key));
    ASSERT_EQ(row.record.packets, 2 * packets.size());
    double sum = 0;
    for (const Sent* packet : packets) sum += packet->wire_bytes;
    ASSERT_TRUE(row.values[0]);
    ASSERT_NEAR(*row.values[0], sum / static_cast<double>(packets.size()), 1e-6);
  }
  expect_balanced(report.summary.total);
}

/// By snapshots too, with rates since the report before; flows of both kinds of addresses, some in one queue alone.
TEST(Session, QueuesThatShareAFlowAreAddedUpInEachReportWithTheRateOfBoth) {
  Input input{.description = "", .sources = {}, .dealing = Dealing::by_device, .owner = nullptr, .device = nullptr};
  const auto shared = make_traffic({.packets = 20'000, .flows = 800});
  const auto own = make_traffic({.packets = 30'000, .flows = 3'000});  // other flows, and those of both
  Gate first(*shared, 4), second(*own, 4);
  input.sources.push_back(std::make_unique<ListSource>(shared, first.behaviour()));
  input.sources.push_back(std::make_unique<ListSource>(own, second.behaviour()));
  Session session(std::move(input), options_of({.workers = 2}), schema_of({"interval_rate_pps"}));
  ASSERT_FALSE(session.start());
  std::map<std::string, std::uint64_t> before;
  std::uint64_t last_ns = 0, with_rate = 0;
  const auto check = [&](const Report& report) {
    const double seconds = static_cast<double>(report.summary.last_ns() - last_ns) * 1e-9;
    std::map<std::string, std::uint64_t> now;
    for (const Row& row : rows_of(report)) {
      const std::string key = text_of(row.record.key);
      ASSERT_TRUE(now.emplace(key, row.record.packets).second) << "one flow twice";
      ASSERT_EQ(row.values[0].has_value(), last_ns != 0);
      if (last_ns == 0) continue;
      ++with_rate;
      const auto more = static_cast<double>(row.record.packets - before[key]);
      ASSERT_NEAR(*row.values[0], more / seconds, 1e-6 * more / seconds);
    }
    before = std::move(now);
    last_ns = report.summary.last_ns();
  };
  for (int i = 0; i < 3; ++i) {
    first.open_further();
    second.open_further();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto report = session.snapshot();
    ASSERT_TRUE(report);
    check(*report);
    ASSERT_FALSE(HasFatalFailure());
  }
  first.open_further();
  second.open_further();
  const Report report = session.final_report();
  check(report);
  EXPECT_GT(with_rate, 1000u);
  std::map<std::string, std::uint64_t> sent;
  for (const auto& traffic : {shared, own})
    for (const auto& [key, packets] : traffic->by_flow()) sent[key] += packets.size();
  EXPECT_EQ(before, sent);
}

/// The best of several: another process on the core may hold up any one of them.
TEST(Session, ASnapshotOfASilentLinkTakesLessThanATenthOfASecond) {
  const auto traffic = make_traffic({.packets = 1000});
  const auto session = make_session({.flows = 1 << 20}, traffic, {.endless = true});
  ASSERT_FALSE(session->start());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  constexpr double kMostSeconds = kSanitized ? 5 : 0.1;
  double best_s = 1e9;
  for (int i = 0; i < 5 || (i < 50 && best_s >= kMostSeconds); ++i) {  // a busy machine delays many
    const auto began = std::chrono::steady_clock::now();
    const auto report = session->snapshot();
    best_s = std::min(best_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    ASSERT_TRUE(report);
    EXPECT_EQ(packets_in(rows_of(*report)), report->summary.total.counted());
  }
  RecordProperty("best_ms", static_cast<int>(1000 * best_s));
  EXPECT_LT(best_s, kMostSeconds);
  session->stop();
}

TEST(Session, SaysTheMemoryOfFindingsWhereTasksHaveSome) {
  const Schema schema = schema_of({});
  const RunPlan without{.flows = 256}, with{.flows = 256, .tasks = {"count"}};
  const SessionOptions options = options_of(with);
  EXPECT_GT(Session::memory_bytes(options, schema), Session::memory_bytes(options_of(without), schema) +
                                                        options.stage.window_ring_bytes + EventQueue::memory_bytes());
}

/// The table has three to six slots for each flow; connections and rows of windows are as many as flows.
TEST(Session, TasksTakeMemoryForFlowsAndNotForSlots) {
  constexpr std::size_t kFlows = std::size_t{1} << 20, kMostBytesPerFlow = 1250;
  const Schema schema = schema_of({});
  const RunPlan without{.flows = kFlows},
      with{.flows = kFlows, .tasks = {"heavy-hitters", "bursty", "retransmissions", "latency-change"}};
  EXPECT_LT(Session::memory_bytes(options_of(with), schema),
            Session::memory_bytes(options_of(without), schema) + kMostBytesPerFlow * kFlows);
}

/// Without reports before the end the table may start small: what it holds moves to a larger one.
TEST(Session, ATableThatGrowsWhileItCountsLosesAndSplitsNothing) {
  const auto traffic = make_traffic({.packets = 250'000, .flows = 200'000});
  for (const Identity identity : {Identity::exact, Identity::fingerprint})
    for (const Timeouts timeouts : {Timeouts{}, Timeouts{.idle_ns = 100'000'000, .active_ns = 150'000'000}}) {
      Input input{
          .description = "", .sources = {}, .dealing = Dealing::all_to_each, .owner = nullptr, .device = nullptr};
      input.sources.push_back(std::make_unique<ListSource>(traffic, Behaviour{}));
      SessionOptions options = options_of({.flows = 120'000, .timeouts = timeouts, .identity = identity});
      options.snapshots = false;
      Session session(std::move(input), options, schema_of({}));
      ASSERT_FALSE(session.start());
      const Report report = session.final_report();
      expect_balanced(report.summary.total);
      EXPECT_GT(report.summary.total[Counter::live_flows], 70'000u) << "it did not grow";
      EXPECT_LE(report.summary.total[Counter::live_flows], 120'000u);
      const auto rows = rows_of(report);
      EXPECT_EQ(packets_in(rows), traffic->sent().size());
      expect_exact(rows, *traffic);
      if (HasFatalFailure()) return;
    }
}

TEST(Session, AnUnstartedSessionCanBeThrownAway) {
  const auto session = make_session({.workers = 2}, make_traffic({.packets = 10}));
}

TEST(Session, ACoreThatTheMachineLacksIsRefusedAndNothingRuns) {
  Input input{.description = "", .sources = {}, .dealing = Dealing::all_to_each, .owner = nullptr, .device = nullptr};
  input.sources.push_back(std::make_unique<ListSource>(make_traffic({.packets = 10}), Behaviour{}));
  SessionOptions options = options_of({});
  options.threads.cores = {1023};
  Session session(std::move(input), options, schema_of({}));
  const auto error = session.start();
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("1023"), std::string::npos);
}

}  // namespace
}  // namespace parshall
