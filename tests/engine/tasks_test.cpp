// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "run.hpp"

namespace parshall {
namespace {

using namespace testing;

constexpr std::uint64_t kWindowNs = 10'000'000;

std::uint64_t reported(const Event& event, std::string_view name) {
  for (const EventValue& value : event.values)
    if (value.name == name) return std::get<std::uint64_t>(value.value);
  ADD_FAILURE() << name;
  return 0;
}

/// Packets by window.
std::map<std::uint64_t, std::uint64_t> counts_of(const std::vector<Event>& events) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const Event& event : events)
    if (event.task == "count") counts[event.window.number] += reported(event, "packets");
  return counts;
}
std::map<std::uint64_t, std::uint64_t> counts_of(const Traffic& traffic) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const Sent& packet : traffic.sent()) ++counts[packet.time_ns / kWindowNs];
  return counts;
}

struct Case {
  ThreadModel model;
  std::size_t workers;
  std::size_t flows;
  Timeouts timeouts = {};
  std::vector<std::string> columns = {};
};

class Tasks : public ::testing::TestWithParam<Case> {
 protected:
  RunPlan plan() const {
    const Case& chosen = GetParam();
    return {.model = chosen.model,
            .workers = chosen.workers,
            .flows = chosen.flows,
            .timeouts = chosen.timeouts,
            .columns = chosen.columns,
            .tasks = {"count:window=10ms", "heavy-hitters:window=10ms,key=src,by=packets,threshold=1,most=1M",
                      "entropy:window=5000p"}};
  }
};

INSTANTIATE_TEST_SUITE_P(Cases, Tasks,
                         ::testing::Values(Case{ThreadModel::run_to_completion, 1, 4096},
                                           Case{ThreadModel::run_to_completion, 4, 4096},
                                           Case{ThreadModel::run_to_completion, 2, 64, {150'000, 2'000'000}},
                                           Case{ThreadModel::pipeline, 1, 64, {150'000, 0}, {"gap_mean"}},
                                           Case{ThreadModel::pipeline, 3, 4096, {}, {"iat_p99"}},
                                           Case{ThreadModel::cooperative, 2, 128, {0, 1'000'000}, {"size_max"}}));

/// Reports are made, and events taken, while the packets pass.
TEST_P(Tasks, EveryPacketIsInItsWindowOnceWhileReportsAreMade) {
  const auto traffic = make_traffic({.packets = 120'000, .flows = 2000, .zipf_exponent = 0.9});
  Gate gate(*traffic, 20);
  const auto session = make_session(plan(), traffic, gate.behaviour());
  ASSERT_FALSE(session->start());
  std::vector<Event> events;
  const auto take = [&] { std::ranges::move(session->take_events(), std::back_inserter(events)); };
  while (!session->finished()) {
    gate.open_further();
    if (const auto report = session->snapshot()) {
      report->flows([](const ReportFlow&) {});
      session->confirm_written();
    }
    take();
  }
  const Report report = session->final_report();
  take();
  expect_balanced(report.summary.total);
  EXPECT_TRUE(report.summary.windows_balanced);
  EXPECT_EQ(report.summary.events_not_taken, 0u);
  const auto truth = counts_of(*traffic);
  EXPECT_GT(truth.size(), 5u);
  EXPECT_EQ(counts_of(events), truth);
  std::map<std::uint64_t, std::uint64_t> by_source;
  for (const Event& event : events)
    if (event.task == "heavy-hitters") by_source[event.window.number] += reported(event, "packets");
  EXPECT_EQ(by_source, truth);
  EXPECT_EQ(report.summary.windows, truth.size() + (traffic->sent().size() + 4999) / 5000);
}

/// A device that has a packet now and then.
class QuietDevice final : public PacketSource {
 public:
  explicit QuietDevice(std::shared_ptr<const Traffic> traffic) : traffic_(std::move(traffic)) {}
  std::size_t poll(std::span<RawPacket> out) noexcept override {
    if (at_ == traffic_->packets().size()) return 0;
    out[0] = traffic_->packets()[at_++];
    return 1;
  }
  bool lossless() const noexcept override { return false; }
  std::uint64_t now_ns() noexcept override { return kStartNs + 50 * kWindowNs; }

 private:
  std::shared_ptr<const Traffic> traffic_;
  std::size_t at_ = 0;
};

TEST(QuietLinks, AWindowIsOverWhenItsTimeIsThoughNoPacketComesToAnyWorker) {
  for (const ThreadModel model : {ThreadModel::run_to_completion, ThreadModel::pipeline, ThreadModel::cooperative}) {
    const auto traffic = make_traffic({.packets = 100, .flows = 10});
    const RunPlan plan{.model = model, .workers = 2, .tasks = {"count:window=10ms"}};
    Input input{
        .description = "quiet", .sources = {}, .dealing = Dealing::by_device, .owner = nullptr, .device = nullptr};
    input.sources.push_back(std::make_unique<QuietDevice>(traffic));
    if (model != ThreadModel::pipeline)  // of two queues one never has a packet
      input.sources.push_back(std::make_unique<QuietDevice>(std::make_shared<const Traffic>()));
    Session session(std::move(input), options_of(plan), schema_of({}), {}, tasks_of(plan));
    ASSERT_FALSE(session.start());
    std::vector<Event> events;
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
         events.empty() && std::chrono::steady_clock::now() < until;) {
      events = session.take_events();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(session.finished());
    EXPECT_EQ(counts_of(events), counts_of(*traffic));
    session.stop();
    EXPECT_TRUE(session.final_report().summary.windows_balanced);
  }
}

}  // namespace
}  // namespace parshall
