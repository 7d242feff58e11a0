// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/table_stage.hpp"
#include "engine/tables.hpp"
#include "pipeline/flow/hashes/registry.hpp"
#include "run.hpp"

namespace parshall {
namespace {

using namespace testing;

constexpr std::uint64_t kShedWindowNs = 10'000'000, kGapNs = 20'000;
constexpr std::uint32_t kFlows = 400;

/// A worker that is told by the test what time its packets took.
class Shed : public ::testing::TestWithParam<std::string> {
 protected:
  struct Setup {
    Setup() {
      const std::string of_both =
          R"("short:window=10ms:packets > 0", "long:window=30ms:packets > 0", "epoch:window=1700p:packets > 0",
             "count:window=20ms")";
      auto read = StateFile::parse("default = \"heavy\"\nstate = [ { name = \"light\", tasks = [" + of_both + "] },\n" +
                                       "{ name = \"heavy\", tasks = [" + of_both +
                                       ", \"bursty:window=10ms\"], lighter = \"light\" } ]",
                                   "test");
      if (!read) throw std::runtime_error(read.error().message);
      auto made = TaskSets::make(read->tasks, {.keys = 1024});
      if (!made) throw std::runtime_error(made.error().message);
      file.emplace(*std::move(read));
      tasks.emplace(*std::move(made));
      plan = std::make_shared<const StatePlan>(*file->plan_for(*tasks, 1));
    }
    std::optional<StateFile> file;
    std::optional<TaskSets> tasks;
    std::shared_ptr<const StatePlan> plan;
  };

  Shed() : front_(IpHeader::outermost, identity(), {}, filter(), {.facts = true}) {
    FlowStageOptions options{.flows = 4096, .snapshots = true, .states = setup_.plan, .seed = 1, .can_wait = false};
    options.windows = setup_.tasks->windows(2);
    options.findings = setup_.tasks->findings(2);
    ControlPlan control = ControlPlan::guess(*setup_.plan, options.windows, options.findings);
    control.packet = {.input_ns = 0.9 * kGapNs};  // so that few packets are enough
    control.cost_ns = {0, 0.1 * kGapNs};
    control.watch(*setup_.tasks);
    options.control = std::make_shared<const ControlPlan>(control);
    stage_ = (*find_table("bucketed", Identity::exact))->make(options);
  }

  static FlowIdentity identity() {
    return {KeyFields::five_tuple, Identity::exact, 1, GetParam() == "crc" ? *find_hash("crc32c") : nullptr};
  }
  static std::optional<BpfFilter> filter() {
    if (GetParam() != "filtered") return std::nullopt;
    return *BpfFilter::compile("udp");
  }

  /// Packets of the next `windows` windows; `busy`: the worker has not time for a third of what comes.
  void pass(int windows, bool busy) {
    for (const std::uint64_t end_ns = now_ns_ + static_cast<std::uint64_t>(windows) * kShedWindowNs;
         now_ns_ < end_ns;) {
      const std::size_t from = traffic_.packets().size();
      for (int i = 0; i < 50; ++i) {
        const std::uint64_t late_ns = i % 17 == 5 ? 3 * kGapNs : 0;
        if (i % 25 == 7) traffic_.add_arp(now_ns_);
        traffic_.add_ip(random_.below(kFlows), (now_ns_ += kGapNs) - late_ns,
                        static_cast<std::uint32_t>(random_.below(99)));
      }
      const std::span<const RawPacket> packets = std::span(traffic_.packets()).subspan(from);
      run(packets);
      load_.polled += packets.size();
      load_.missed += busy ? packets.size() / 2 : 0;
      load_.all_ticks += 1000, load_.busy_ticks += busy ? 1000 : 1;
      load_.rounds += 1, load_.round_cycles += 1000;
      if (stage_->control_window_ends(front_.link())) stage_->end_control_window(front_.link(), load_);
      while (stage_->housekeep(front_.link())) {
      }
      read();
    }
  }

  void run(std::span<const RawPacket> packets) {
    if (GetParam() != "admitted") return stage_->run(front_, packets);
    for (; !packets.empty(); packets = packets.subspan(std::min(kGroup, packets.size()))) {
      front_.accept(packets.first(std::min(kGroup, packets.size())), staging_);
      for (; staging_.size() != 0; staging_.pop(1)) {
        LinkPlace place = staging_.place(0);
        place.latest_ns = admitted_ns_ = std::max(admitted_ns_, staging_.oldest(1)[0].time_ns);
        stage_->admit(staging_.oldest(1), {&place, 1}, {&staging_.tcp(0), 1});
      }
    }
  }

  void read() {
    stage_->window_messages().drain([this](std::span<const std::byte> bytes) {
      const auto message = read_as<WindowMessage>(bytes);
      auto& window = windows_[{message.clock, message.window}];
      if (take_rows(bytes, [&](const FlowWindow& flow) { window.flows.push_back(flow); })) return;
      if (message.kind == WindowMessage::Kind::unread)
        window.unread.push_back(read_as<UnreadMessage>(bytes).flows);
      else if (message.kind == WindowMessage::Kind::end)
        window.totals.add(read_as<WindowEnd>(bytes.subspan(sizeof message)).totals);
    });
  }

  struct Window {
    WindowTotals totals;
    std::vector<FlowWindow> flows;
    std::vector<UnreadFlows> unread;
  };

  std::uint64_t one_in() const { return stage_->control()->most_one_in.load(); }

  Setup setup_;
  FrontEnd front_;
  InFlight staging_;  ///< before a ring, where there is one
  std::uint64_t admitted_ns_ = 0;
  Traffic traffic_;
  std::unique_ptr<FlowStage> stage_;
  std::uint64_t now_ns_ = kStartNs;
  SplitMix64 random_{3};
  WorkerLoad load_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Window> windows_;
};
INSTANTIATE_TEST_SUITE_P(FrontEnds, Shed, ::testing::Values("plain", "filtered", "crc", "admitted"));

TEST_P(Shed, PacketsAreCountedInTheRunAndInTheirWindows) {
  pass(5, false);
  EXPECT_EQ(one_in(), 1u);
  pass(30, true);
  const std::uint64_t most = one_in();
  EXPECT_GT(most, 1u);
  const StageCounts busy = stage_->counts();
  EXPECT_GT(busy[Counter::shed_packets], traffic_.sent().size() / 4);
  pass(300, false);
  const std::uint64_t shed = stage_->counts()[Counter::shed_packets];
  pass(10, false);
  stage_->drain();
  EXPECT_EQ(stage_->counts()[Counter::shed_packets], shed) << "there was time for all";
  stage_->finish(front_.link());
  read();

  StageCounts counts = stage_->counts();
  std::uint64_t wire_bytes = 0, ip_bytes = 0;
  for (const Sent& packet : traffic_.sent()) wire_bytes += packet.wire_bytes, ip_bytes += packet.ip_bytes;
  EXPECT_EQ(counts[Counter::arrived], traffic_.sent().size());
  EXPECT_EQ(counts[Counter::live_flow_packets] + counts[Counter::ended_record_packets] + counts[Counter::shed_packets],
            counts[Counter::arrived]);
  EXPECT_EQ(counts[Counter::wire_bytes], wire_bytes);
  EXPECT_EQ(counts[Counter::ip_bytes], ip_bytes);
  EXPECT_EQ(front_.counts().verdict[static_cast<std::size_t>(Verdict::counted)], counts[Counter::arrived]);

  // What each window has by the traffic itself: by the latest time, or by the packet's place.
  const auto lengths = setup_.tasks->windows(2);
  std::map<std::pair<std::uint32_t, std::uint64_t>, WindowTotals> truth;
  std::uint64_t latest_ns = 0;
  for (const Sent& packet : traffic_.sent()) {
    latest_ns = std::max(latest_ns, packet.time_ns);
    for (std::uint32_t clock = 0; clock < lengths.size(); ++clock) {
      const WindowLength length = lengths[clock].length;
      const std::uint64_t number = length.number({packet.position, latest_ns});
      WindowTotals& totals = truth[{clock, number}];
      ++totals.packets, totals.wire_bytes += packet.wire_bytes;
      totals.late_packets += length.unit == WindowLength::Unit::ns && packet.time_ns < length.begin_of(number);
    }
  }
  std::uint64_t told_as_shed = 0;
  for (const auto& [at, totals] : truth) {
    SCOPED_TRACE(std::to_string(at.first) + ", window " + std::to_string(at.second));
    const Window& window = windows_[at];
    EXPECT_EQ(window.totals.packets, totals.packets);
    EXPECT_EQ(window.totals.wire_bytes, totals.wire_bytes);
    EXPECT_EQ(window.totals.late_packets, totals.late_packets);
    std::uint64_t in_flows = 0;
    for (const FlowWindow& flow : window.flows) in_flows += flow.packets;
    for (const UnreadFlows& flows : window.unread) in_flows += flows.packets;
    EXPECT_EQ(in_flows + window.totals.shed_packets, totals.packets);
    told_as_shed += at.first == 0 ? window.totals.shed_packets : 0;
    EXPECT_LE(window.totals.one_in, most);
    if (window.totals.shed_packets != 0) {
      EXPECT_GT(window.totals.one_in, 1u);
    }
  }
  EXPECT_EQ(told_as_shed, shed);
}

/// A flow that stands for others is one of the window's smallest sample, and all its packets are there.
TEST_P(Shed, FlowsOfAWindowsSampleAreWhole) {
  pass(3, false), pass(12, true), pass(60, false);
  stage_->drain();
  stage_->finish(front_.link());
  read();
  const auto lengths = setup_.tasks->windows(2);
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::map<std::string, std::uint64_t>> truth;
  std::uint64_t latest_ns = 0;
  for (const Sent& packet : traffic_.sent()) {
    latest_ns = std::max(latest_ns, packet.time_ns);
    for (std::uint32_t clock = 0; clock < lengths.size(); ++clock)
      ++truth[{clock, lengths[clock].length.number({packet.position, latest_ns})}][packet.flow];
  }
  std::size_t whole = 0, in_part = 0;
  FlowSample sample(1);
  for (const auto& [at, window] : windows_) {
    if (!window.unread.empty()) continue;
    std::map<std::string, std::uint64_t> seen;
    std::set<std::string> stands;
    for (const FlowWindow& flow : window.flows) {
      seen[text_of(flow.key)] += flow.packets;
      if (flow.stands_for == 0) {
        ++in_part;
        EXPECT_FALSE(sample.takes(flow.key, window.totals.one_in));
        continue;
      }
      EXPECT_EQ(flow.stands_for, window.totals.one_in);
      EXPECT_TRUE(sample.takes(flow.key, window.totals.one_in));
      stands.insert(text_of(flow.key));
    }
    for (const std::string& flow : stands) EXPECT_EQ(seen[flow], truth[at][flow]);
    for (const auto& [flow, packets] : truth[at]) {
      FlowKey key;
      std::memcpy(static_cast<void*>(&key), flow.data(), flow.size());
      EXPECT_EQ(stands.contains(flow), sample.takes(key, window.totals.one_in)) << "whoever is in the sample is there";
    }
    whole += stands.size();
  }
  EXPECT_GT(whole, 1000u);
  EXPECT_GT(in_part, 10u) << "the number changes within long windows";
}

/// Flows at which nobody looks are counted together: all of them, or by the sample, as far off as it says.
TEST_P(Shed, FlowsThatNobodyReadsAreCountedTogether) {
  pass(3, false), pass(12, true), pass(60, false);
  stage_->drain();
  stage_->finish(front_.link());
  read();
  constexpr std::uint32_t kClock = 3;  // of count alone
  const WindowLength length = setup_.tasks->windows(2)[kClock].length;
  std::map<std::uint64_t, std::set<std::string>> truth;
  std::uint64_t latest_ns = 0;
  for (const Sent& packet : traffic_.sent()) {
    latest_ns = std::max(latest_ns, packet.time_ns);
    truth[length.number({packet.position, latest_ns})].insert(packet.flow);
  }
  int exact = 0, estimated = 0;
  double flows = 0, estimate = 0, variance = 0;
  for (const auto& [at, window] : windows_) {
    if (at.first != kClock || window.totals.packets == 0) continue;
    EXPECT_TRUE(window.flows.empty());
    KeyCounts counts;
    for (const UnreadFlows& unread : window.unread) counts.add(unread);
    EXPECT_EQ(counts.packets + window.totals.shed_packets, window.totals.packets);
    if (window.totals.shed_packets == 0 && window.totals.one_in == 1) {
      EXPECT_EQ(counts.flows, truth[at.second].size());
      EXPECT_EQ(counts.variance[3], 0);
      ++exact;
      continue;
    }
    ++estimated;
    flows += static_cast<double>(truth[at.second].size());
    estimate += static_cast<double>(counts.flows);
    variance += static_cast<double>(counts.variance[3]);
  }
  EXPECT_GT(exact, 10);
  EXPECT_GT(estimated, 5);
  EXPECT_GT(variance, 0);
  EXPECT_NEAR(estimate, flows, 5 * std::sqrt(2 * variance));
}

/// A snapshot that is taken meanwhile balances too: before, at the beginning of it, and after its end.
TEST_P(Shed, SnapshotsBalance) {
  std::uint64_t shed = 0;
  for (std::uint64_t number = 1; number <= 60; ++number) {
    stage_->request_snapshot(number);
    pass(4, /*busy=*/number > 2 && number < 15);
    const Snapshot* const snapshot = stage_->snapshot_ready();
    ASSERT_NE(snapshot, nullptr);
    const StageCounts& counts = snapshot->counts;
    EXPECT_GE(counts[Counter::shed_packets], shed);
    shed = counts[Counter::shed_packets];
    EXPECT_EQ(counts[Counter::live_flow_packets] + counts[Counter::ended_record_packets] + shed,
              counts[Counter::arrived]);
  }
  EXPECT_GT(shed, 0u);
}

}  // namespace
}  // namespace parshall
