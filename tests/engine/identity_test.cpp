// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "engine/loss_watch.hpp"
#include "run.hpp"

namespace parshall {
namespace {

using namespace testing;

const std::vector<std::string> kNames{"flow_id", "record", "flow_first_seen", "exact", "missed_packets_at_most"};
enum Asked : std::size_t { kFlowId, kRecord, kFlowFirst, kExact, kMissed };

/// 40 flows for 100 ms, in turn, of which a quarter pauses for the second half of each 20 ms.
std::shared_ptr<const Traffic> steady_traffic() {
  auto traffic = std::make_shared<Traffic>();
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    const std::uint64_t flow = i % 40, ns = i * 2500;
    if (flow % 4 == 0 && ns / 10'000'000 % 2 == 1) continue;
    traffic->add_ip(flow, kStartNs + ns, 0);
  }
  return traffic;
}

struct Cell {
  FlowRecord record;
  std::vector<Value> asked;
};

std::vector<Cell> cells_of(const Report& report) {
  std::vector<Cell> cells;
  report.flows([&](const ReportFlow& flow) {
    const auto asked = flow.values.subspan(kBaseColumns);
    cells.push_back({flow.record, {asked.begin(), asked.end()}});
  });
  return cells;
}

std::vector<Cell> run_to_end(Session& session) {
  EXPECT_FALSE(session.start());
  return cells_of(session.final_report());
}

TEST(RecordIdentity, RecordsOfOneFlowAddUpToItHaveOneNameAndCountOn) {
  const auto traffic = steady_traffic();
  for (const auto model : {ThreadModel::run_to_completion, ThreadModel::pipeline})
    for (const std::size_t workers : {1u, 2u}) {
      const auto session = make_session({.model = model,
                                         .workers = workers,
                                         .timeouts = {.idle_ns = 5'000'000, .active_ns = 3'000'000},
                                         .columns = kNames},
                                        traffic);
      std::map<std::uint64_t, std::vector<Cell>> flows;
      std::uint64_t packets = 0;
      for (Cell& cell : run_to_end(*session)) {
        packets += cell.record.packets;
        EXPECT_EQ(cell.asked[kExact], Value::of_bool(true));
        EXPECT_EQ(cell.asked[kMissed], Value::of_unsigned(0));
        flows[cell.asked[kFlowId].as_unsigned()].push_back(std::move(cell));
      }
      EXPECT_EQ(packets, traffic->packets().size());
      EXPECT_EQ(flows.size(), 30u + 10 * 5);
      for (auto& [id, records] : flows) {
        std::ranges::sort(records, {}, [](const Cell& cell) { return cell.asked[kRecord].as_unsigned(); });
        for (std::size_t i = 0; i < records.size(); ++i) {
          EXPECT_EQ(records[i].asked[kRecord], Value::of_unsigned(i));
          EXPECT_EQ(records[i].asked[kFlowFirst], Value::of_time(records.front().record.first_ns));
          EXPECT_EQ(records[i].record.key, records.front().record.key);
          EXPECT_EQ(records[i].record.end_reason == EndReason::active_timeout, i + 1 != records.size());
        }
      }
    }
}

TEST(RecordIdentity, ALiveFlowIsForcedToEndWithTheRunAndNotBefore) {
  const auto traffic = steady_traffic();
  Gate gate(*traffic, 2);
  const auto session = make_session({.columns = kNames}, traffic, gate.behaviour());
  ASSERT_FALSE(session->start());
  gate.open_further();
  while (session->packets_polled() < traffic->packets().size() / 2) std::this_thread::yield();
  const auto before = session->snapshot();
  ASSERT_TRUE(before);
  const auto live = cells_of(*before);
  EXPECT_FALSE(live.empty());
  for (const Cell& cell : live) EXPECT_EQ(cell.record.end_reason, EndReason::none);
  gate.open_further();
  std::map<std::string, std::uint64_t> names;
  for (const Cell& cell : cells_of(session->final_report())) {
    EXPECT_EQ(cell.record.end_reason, EndReason::forced_end);
    names[text_of(cell.record.key)] = cell.asked[kFlowId].as_unsigned();
  }
  for (const Cell& cell : live) EXPECT_EQ(names.at(text_of(cell.record.key)), cell.asked[kFlowId].as_unsigned());
}

TEST(RecordIdentity, IsKeptWhereOtherColumnsAreAskedForAndNotMadeUpAfterwards) {
  const auto traffic = steady_traffic();
  for (const bool asked_before : {true, false}) {
    Gate gate(*traffic, 2);
    const auto session = make_session(
        {.timeouts = {.active_ns = 3'000'000},
         .columns = asked_before ? std::vector<std::string>{"record"} : std::vector<std::string>{"size_mean"}},
        traffic, gate.behaviour());
    ASSERT_FALSE(session->start());
    gate.open_further();
    while (session->packets_polled() < traffic->packets().size() / 2) std::this_thread::yield();
    auto names = kNames;
    names.push_back("gap_mean");
    session->change_columns(schema_of(names));
    gate.open_further();
    std::uint64_t most = 0;
    for (const Cell& cell : cells_of(session->final_report())) {
      if (cell.record.end_reason != EndReason::forced_end) continue;
      ASSERT_EQ(cell.asked[kRecord].present(), asked_before);
      ASSERT_EQ(cell.asked[kFlowId].present(), asked_before);
      if (asked_before) most = std::max(most, cell.asked[kRecord].as_unsigned());
    }
    if (asked_before) {
      EXPECT_GT(most, 20u) << "of 100 ms in records of 3 ms";
    }
  }
}

TEST(RecordIdentity, WhereALossyIdentityMergesFlowsNoRecordIsExact) {
  const auto session = make_session({.columns = kNames, .identity = Identity::fingerprint}, steady_traffic());
  for (const Cell& cell : run_to_end(*session)) EXPECT_EQ(cell.asked[kExact], Value::of_bool(false));
}

TEST(RecordIdentity, WhereADeviceDoesNotSayWhatItLosesNoRecordIsExact) {
  for (const bool lossless : {true, false}) {
    const auto session = make_session({.columns = kNames}, steady_traffic(), {.lossless = lossless});
    for (const Cell& cell : run_to_end(*session)) {
      EXPECT_EQ(cell.asked[kExact], Value::of_bool(lossless));
      EXPECT_EQ(cell.asked[kMissed].present(), lossless);
    }
  }
}

/// A device with a clock that the test moves on, which loses what it is told to.
class Device {
 public:
  explicit Device(std::shared_ptr<const Traffic> traffic) : traffic_(std::move(traffic)) {}

  Input input() {
    Input input{.description = "device", .device = [this] { return counters(); }};
    input.sources.push_back(std::make_unique<Source>(*this));
    return input;
  }

  /// So many more packets come, the last of them now.
  void deliver(std::uint64_t packets) {
    const std::uint64_t open = open_ + packets;
    now_ns_ = traffic_->packets()[open - 1].time_ns;
    open_ = open;
  }
  void lose(std::uint64_t packets) { missed_ += packets; }
  /// Long enough for readings to be known to be before what comes next.
  void wait() {
    now_ns_ += 5'000'000;
    const std::uint64_t polls = polls_;
    while (polls_ < polls + 10) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  void end() { ended_ = true; }

 private:
  class Source final : public PacketSource {
   public:
    explicit Source(Device& device) : device_(device) {}
    std::size_t poll(std::span<RawPacket> out) noexcept override {
      ++device_.polls_;
      const std::size_t count = std::min<std::size_t>(out.size(), device_.open_ - next_);
      std::copy_n(device_.traffic_->packets().begin() + static_cast<std::ptrdiff_t>(next_), count, out.begin());
      next_ += count;
      return count;
    }
    bool exhausted() const noexcept override { return device_.ended_ && next_ == device_.open_; }
    bool lossless() const noexcept override { return false; }
    std::uint64_t now_ns() noexcept override { return device_.now_ns_; }
    Counters counters() noexcept override { return device_.counters(); }

   private:
    Device& device_;
    std::uint64_t next_ = 0;
  };

  Counters counters() const {
    Counters counters;
    counters.set(Counter::nic_missed, missed_.load());
    return counters;
  }

  std::shared_ptr<const Traffic> traffic_;
  std::atomic<std::uint64_t> open_{0}, missed_{0}, now_ns_{kStartNs}, polls_{0};
  std::atomic<bool> ended_{false};
};

TEST(RecordIdentity, ALossIsOfTheRecordsThatWereOpenThen) {
  auto traffic = std::make_shared<Traffic>();
  // Three flows, one after the other, and one all the time; 100 ms between the three.
  for (std::uint64_t part = 0; part < 3; ++part)
    for (std::uint64_t i = 0; i < 100; ++i) {
      traffic->add_ip(part, kStartNs + part * 100'000'000 + i * 10'000, 0);
      traffic->add_ip(9, kStartNs + part * 100'000'000 + i * 10'000 + 1, 0);
    }
  Device device(traffic);
  Session session(device.input(), options_of({}), schema_of(kNames));
  ASSERT_FALSE(session.start());
  device.wait();
  device.deliver(200);
  device.wait();
  device.deliver(100);
  device.lose(17);
  device.deliver(100);
  device.wait();
  device.deliver(200);
  device.wait();
  device.end();
  std::map<std::uint64_t, std::uint64_t> missed;  // by the number of the flow
  for (const Cell& cell : cells_of(session.final_report())) {
    missed[cell.record.key.address[0]] = cell.asked[kMissed].as_unsigned();
    EXPECT_EQ(cell.asked[kExact], Value::of_bool(cell.asked[kMissed].as_unsigned() == 0));
  }
  const std::map<std::uint64_t, std::uint64_t> expected{{0, 0}, {1, 17}, {2, 0}, {9, 17}};
  EXPECT_EQ(missed, expected);
}

}  // namespace
}  // namespace parshall
