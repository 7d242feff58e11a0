// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "run.hpp"

namespace parshall {
namespace {

using namespace testing;

struct CountedPlan {
  const char* name;
  RunPlan plan;
  bool lossless = true;
};

class SessionCounters : public ::testing::TestWithParam<CountedPlan> {};

const CountedPlan kCases[] = {
    {"one_worker", {.flows = 1024}},
    {"two_workers", {.workers = 2, .flows = 1024}},
    {"pipeline", {.model = ThreadModel::pipeline, .workers = 2, .flows = 1024}},
    {"packets_only", {.packets_only = true}},
    {"filter", {.filter = "udp"}},
    {"flood_filter", {.flows = 1 << 16, .flood_filter_bytes = 1 << 20}},
    {"full_ring", {.model = ThreadModel::pipeline, .flows = 1024, .ring_packets = 256}, false},
};
INSTANTIATE_TEST_SUITE_P(Plans, SessionCounters, ::testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

bool is_at_any_time(const CounterLine& line) { return line.by != CountedBy::walk; }

TEST_P(SessionCounters, NeverGoBackWhileItRunsAndAreThoseOfTheFinalReport) {
  const auto traffic = make_traffic({.packets = 300'000, .flows = 60'000});
  constexpr std::uint64_t kSteps = 8;
  Gate gate(*traffic, kSteps);
  Behaviour behaviour = gate.behaviour();
  behaviour.lossless = GetParam().lossless;
  RunPlan plan = GetParam().plan;
  plan.counts_bytes = true;
  const auto session = make_session(plan, traffic, behaviour);
  EXPECT_EQ(session->counters()[Counter::polled], 0u);
  ASSERT_FALSE(session->start());
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> steps{0};
  std::thread reader([&] {
    Counters before;
    for (bool last = false; !last;) {
      last = over.load();
      const Counters now = session->counters();
      for (const CounterLine& line : Counters::kTable) {
        if (is_at_any_time(line) && line.id != Counter::live_flow_packets && line.id != Counter::live_flows) {
          EXPECT_GE(now[line.id], before[line.id]) << line.name;
        }
      }
      EXPECT_LE(now[Counter::live_flow_packets], traffic->packets().size()) << "it went below 0";
      steps += now[Counter::polled] != before[Counter::polled];  // a step may find its ring full, to the last packet
      before = now;
      if (HasFailure()) break;
    }
  });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (std::uint64_t step = 1; step <= kSteps; ++step) {
    gate.open_further();
    while (steps < step && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }
  const Report report = session->final_report();
  over.store(true);
  reader.join();
  EXPECT_GE(steps, kSteps) << "it was not seen to run";
  const Accounting& total = report.summary.total;
  expect_balanced(total);
  const Accounting now(session->counters());
  EXPECT_TRUE(now.balanced());
  for (const CounterLine& line : Counters::kTable) {
    if (is_at_any_time(line)) {
      EXPECT_EQ(now.known(line.id), total.known(line.id)) << line.name;
    }
  }
}

TEST(SessionCounters, AreThereBetweenTwoReportsToo) {
  const auto traffic = make_traffic({.packets = 100'000, .flows = 60'000, .others = false});
  Gate gate(*traffic, 4);
  const auto session = make_session({.flows = 1024}, traffic, gate.behaviour());
  ASSERT_FALSE(session->start());
  std::uint64_t before = 0;
  for (int step = 0; step < 3; ++step) {
    gate.open_further();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const std::uint64_t goal = before + traffic->packets().size() / 4;
    while (session->counters()[Counter::arrived] < goal && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    const Counters now = session->counters();
    EXPECT_GE(now[Counter::arrived], goal) << "without a snapshot";
    EXPECT_GT(now[Counter::ended_records], 0u);
    before = now[Counter::arrived];
  }
  gate.open_further();
  EXPECT_EQ(session->final_report().summary.total.counted(), 100'000u);
}

}  // namespace
}  // namespace parshall
