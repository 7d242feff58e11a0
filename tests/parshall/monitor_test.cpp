// SPDX-License-Identifier: Apache-2.0
#include "parshall/monitor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <set>
#include <thread>

#include "traffic/traffic.hpp"

namespace parshall {
namespace {

using namespace std::chrono_literals;

Plan traffic(const std::string& spec) {
  Plan plan;
  plan.source.traffic = spec;
  plan.flows.flows = 1 << 16;
  return plan;
}

/// What came to a subscriber, whose thread alone touches it until the run has finished.
struct Sums {
  std::uint64_t batches = 0, records = 0, packets = 0;
  std::vector<std::string> events;
  std::set<std::thread::id> threads;

  Subscriber subscriber(std::string name) {
    return {.name = std::move(name),
            .records =
                [this](const RecordBatch& batch) {
                  ++batches;
                  records += batch.rows();
                  threads.insert(std::this_thread::get_id());
                  EXPECT_EQ(batch.columns()[6].name, "packets");
                  for (std::size_t row = 0; row < batch.rows(); ++row) packets += batch[row][6].as_unsigned();
                },
            .events = [this](std::string_view json) { events.emplace_back(json); }};
  }
};

TEST(Monitor, HasNoRoomForMoreFlowsThanACaptureHasPackets) {
  const auto room = [](std::uint64_t flows, std::string table, Identity identity, std::size_t record_bytes) {
    const std::string path = ::testing::TempDir() + "few_packets.pcap";
    {
      std::ofstream file(path, std::ios::binary);
      const std::uint32_t header[] = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1};
      file.write(reinterpret_cast<const char*>(header), sizeof header);
      file << std::string(record_bytes, '\0');
    }
    Plan plan;
    plan.source.file = path;
    plan.flows.flows = flows;
    plan.flows.table = std::move(table);
    plan.flows.identity = identity;
    auto monitor = Monitor::start(plan);
    if (!monitor) ADD_FAILURE() << monitor.error().message;
    const std::uint64_t bytes = monitor ? monitor->memory_bytes() : 0;
    if (monitor) monitor->finish();
    std::remove(path.c_str());
    return bytes;
  };
  constexpr std::uint64_t kFlows = 1 << 20;
  const std::uint64_t least = room(kFlows, "bucketed", Identity::exact, 0),
                      some = room(kFlows, "bucketed", Identity::exact, 36 << 18);
  EXPECT_LT(least, some);
  EXPECT_LT(some, room(kFlows, "bucketed", Identity::exact, 36 << 20));
  EXPECT_EQ(least, room(1 << 14, "bucketed", Identity::exact, 0)) << "less than a table begins with";
  EXPECT_EQ(room(kFlows, "bucketed", Identity::exact, 72 << 20), room(kFlows, "bucketed", Identity::exact, 36 << 20));
  EXPECT_EQ(room(kFlows, "bucketed", Identity::fingerprint, 0),
            room(kFlows, "bucketed", Identity::fingerprint, 36 << 20));
}

TEST(Monitor, HandsEveryRecordAndEventToEachSubscriber) {
  Plan plan = traffic("flows=5000,packets=200000");
  plan.source.packets = 200'000;
  plan.flows.idle_ns = 1'000'000;
  plan.tasks.specs = {"count:window=50000p"};
  Sums first, second;
  auto monitor = Monitor::start(plan, {first.subscriber("first"), second.subscriber("second")});
  ASSERT_TRUE(monitor) << monitor.error().message;
  EXPECT_EQ(monitor->columns().size(), 11u);
  EXPECT_GT(monitor->memory_bytes(), std::uint64_t{64} << 20);
  const RunSummary summary = monitor->finish();
  EXPECT_TRUE(summary.accounting.balanced());
  EXPECT_EQ(summary.accounting.counted(), 200'000u);
  for (const Sums* const sums : {&first, &second}) {
    EXPECT_EQ(sums->packets, 200'000u);
    EXPECT_GT(sums->records, 5000u) << "none ended on the way";
    EXPECT_LT(sums->batches, sums->records);
    ASSERT_EQ(sums->events.size(), 4u);
    EXPECT_NE(sums->events[0].find("\"task\":\"count\""), std::string::npos) << sums->events[0];
  }
  ASSERT_EQ(summary.outputs.size(), 2u);
  for (const OutputSummary& output : summary.outputs) {
    EXPECT_EQ(output.written, (OutputSummary::Sum{first.records, 200'000, 4})) << output.name;
    EXPECT_EQ(output.waiting(), OutputSummary::Sum());
  }
  EXPECT_EQ(summary.outputs[1].name, "second");
}

TEST(Monitor, StopsAllWorkersAtTheSamePacketOfBuiltInTraffic) {
  Plan plan = traffic("flows=5000,packets=100000,rate=1000000");
  plan.threads.workers = 3;
  std::uint64_t packets = 0, last_ns = 0;
  auto monitor = Monitor::start(plan, {{.name = "sums", .records = [&](const RecordBatch& batch) {
                                          ASSERT_EQ(batch.columns()[10].name, "last_seen_ns");
                                          for (std::size_t row = 0; row < batch.rows(); ++row) {
                                            packets += batch[row][6].as_unsigned();
                                            last_ns = std::max(last_ns, batch[row][10].as_unsigned());
                                          }
                                        }}});
  ASSERT_TRUE(monitor) << monitor.error().message;
  while (monitor->counters()[Counter::counted] < 300'000) std::this_thread::sleep_for(1ms);
  monitor->stop();
  const RunSummary summary = monitor->finish();
  EXPECT_TRUE(summary.accounting.balanced());
  EXPECT_EQ(packets, summary.accounting.counted());
  EXPECT_EQ(last_ns, kTrafficStartNs + (packets - 1) * 1000) << "one prefix of the traffic, a packet a microsecond";
}

TEST(Monitor, IsCountedWhileItRunsAndStopsWhenItIsTold) {
  Sums sums;
  auto monitor = Monitor::start(traffic("flows=5000,packets=10000,pace=100000"), {sums.subscriber("sums")});
  ASSERT_TRUE(monitor) << monitor.error().message;
  EXPECT_FALSE(monitor->ended_within(1ms));
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (monitor->counters()[Counter::counted] < 1000 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  monitor->stop();
  EXPECT_TRUE(monitor->ended_within(10s));
  const RunSummary summary = monitor->finish();
  EXPECT_GE(summary.accounting.counted(), 1000u);
  EXPECT_EQ(sums.packets, summary.accounting.counted());
}

TEST(Monitor, KeepsTheTimeThatThePlanSays) {
  Plan plan = traffic("flows=5000,packets=10000,pace=100000");
  plan.source.duration_ns = 200'000'000;
  auto monitor = Monitor::start(plan);
  ASSERT_TRUE(monitor) << monitor.error().message;
  const RunSummary summary = monitor->finish();
  EXPECT_GE(summary.elapsed_s, 0.2);
  EXPECT_LT(summary.elapsed_s, 5);
  EXPECT_GT(summary.accounting.counted(), 1000u);
}

TEST(Monitor, ThatNobodyFinishesEndsWithItsOwner) {
  std::atomic<bool> asked{false};
  const auto forever = [&](const RecordBatch&) {
    while (!asked) std::this_thread::sleep_for(1ms);
  };
  Plan plan = traffic("flows=50000,packets=1000000");
  plan.flows.idle_ns = 1000;
  std::thread waker;
  {
    auto monitor = Monitor::start(plan, {{.name = "slow", .records = forever, .events = {}}});
    ASSERT_TRUE(monitor) << monitor.error().message;
    EXPECT_FALSE(monitor->ended_within(100ms));
    waker = std::thread([&] {
      std::this_thread::sleep_for(100ms);
      asked = true;
    });
  }
  waker.join();
}

TEST(Monitor, SaysWhatIsWrongWithAPlan) {
  for (const auto& [change, said] : std::initializer_list<std::pair<void (*)(Plan&), const char*>>{
           {[](Plan& plan) { plan.source.traffic.clear(); }, "-r FILE"},
           {[](Plan& plan) { plan.flows.table = "none"; }, "none"},
           {[](Plan& plan) { plan.statistics.columns = {"colour"}; }, "colour"},
           {[](Plan& plan) { plan.tasks.names = {"nothing"}; }, "nothing"},
           {[](Plan& plan) {
              plan.outputs = {{"xml", "x"}};
            },
            "xml"},
           {[](Plan& plan) {
              plan.outputs = {{"csv", "/no/such/folder/x.csv"}};
            },
            "/no/such/folder"},
           {[](Plan& plan) { plan.source = {.file = "/no/such/file"}; }, "/no/such/file"}}) {
    Plan plan = traffic("flows=10");
    change(plan);
    const auto monitor = Monitor::start(plan);
    ASSERT_FALSE(monitor) << said;
    EXPECT_NE(monitor.error().message.find(said), std::string::npos) << monitor.error().message;
  }
}

}  // namespace
}  // namespace parshall
