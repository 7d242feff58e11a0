// SPDX-License-Identifier: Apache-2.0
#include "engine/table_stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "../address_space_limit.hpp"
#include "engine/tables.hpp"
#include "pipeline/flow/bucketed_table.hpp"

namespace parshall {
namespace {

void admit(FlowStage& stage, const FlowIdentity& identity, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t i = from; i < to; ++i) {
    PacketFacts facts;
    facts.key = {};
    facts.key.ip_version = 4;
    facts.key.protocol = 17;
    facts.key.address[0] = static_cast<std::uint8_t>(i % 10);
    facts.time_ns = i;
    facts.counts = CountWord::narrow(46, 14, 0);
    facts.hash = identity.hash(facts.key);
    const LinkPlace place{i, i};
    stage.admit({&facts, 1}, {&place, 1}, {});
  }
}

TEST(TableStage, ASnapshotThatFindsNoMemoryForItsRowsStillHasTheCounters) {
  const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, 1);
  TableStage<ExactTable> stage({.flows = 1 << 18});
  auto statistics = make_statistics(std::vector<std::string>{"gap_p99", "iat_p99", "size_p99"}, {});
  ASSERT_TRUE(statistics);
  stage.request_statistics({std::make_shared<const StatisticSet>(*std::move(statistics)), 1});
  stage.housekeep({});
  admit(stage, identity, 0, 100);
  ASSERT_NE(stage.statistics().set, nullptr);

  stage.request_snapshot(1);
  {
    const AddressSpaceLimit limit(rlim_t{64} << 20);
    while (stage.housekeep({})) {
    }
    admit(stage, identity, 100, 200);
  }
  while (stage.snapshot_ready() == nullptr) stage.housekeep({});
  const Snapshot& snapshot = *stage.snapshot_ready();
  EXPECT_EQ(snapshot.statistics.set, nullptr) << "the limit did not bite";
  EXPECT_EQ(snapshot.counts[Counter::live_flows], 10u);
  EXPECT_EQ(snapshot.counts[Counter::live_flow_packets], snapshot.counts[Counter::arrived]);
  stage.drain();
  EXPECT_EQ(stage.counts()[Counter::live_flow_packets], 200u);
}

/// A stage whose flows are idle after 1 ms, and packets of flows by number.
class IdleFlows {
 public:
  explicit IdleFlows(std::size_t flows)
      : stage({.flows = flows, .timeouts = {.idle_ns = kIdleNs}, .snapshots = false, .can_wait = false}) {}

  void packet(std::uint16_t flow, std::uint64_t time_ns) {
    PacketFacts facts;
    facts.key = {};
    facts.key.ip_version = 4;
    std::memcpy(facts.key.address.data(), &flow, 2);
    facts.time_ns = time_ns;
    facts.counts = CountWord::narrow(46, 14, 0);
    facts.hash = identity_.hash(facts.key);
    const LinkPlace place{position_++, time_ns};
    stage.admit({&facts, 1}, {&place, 1}, {});
    stage.drain();
  }

  static constexpr std::uint64_t kIdleNs = 1'000'000;
  TableStage<ExactTable> stage;

 private:
  FlowIdentity identity_{KeyFields::five_tuple, Identity::exact, 5};
  std::uint64_t position_ = 0;
};

TEST(TableStage, APacketFromTheFutureDoesNotKeepIdleFlowsForEver) {
  IdleFlows flows(1 << 10);
  for (std::uint16_t flow = 0; flow < 500; ++flow) flows.packet(flow, 1000 + flow);
  flows.packet(1000, std::uint64_t{1} << 62);
  flows.stage.housekeep({});
  for (std::uint64_t i = 0; i < 4000; ++i) {
    flows.packet(1001, 2'000'000 + 1000 * i);
    if (i % 100 == 0) flows.stage.housekeep({});
  }
  EXPECT_EQ(flows.stage.counts()[Counter::ended_records], 500u);
}

TEST(TableStage, IdleFlowsOfALargeTableEndInTimeThoughFewPacketsCome) {
  constexpr std::uint64_t kPacketsPerTimeout = 5;
  IdleFlows flows(1 << 18);
  for (std::uint16_t flow = 0; flow < 500; ++flow) flows.packet(flow, 1000 + flow);
  for (std::uint64_t i = 1; i <= 2 * kPacketsPerTimeout + 1; ++i) {
    flows.packet(1001, i * IdleFlows::kIdleNs / kPacketsPerTimeout + 2000);
    for (int turn = 0; turn < 1000; ++turn) flows.stage.housekeep({});
  }
  EXPECT_EQ(flows.stage.counts()[Counter::ended_records], 500u);
}

/// Every table that keeps whole keys, by its place in the registry.
class ExactMonitors : public ::testing::TestWithParam<const TableEntry*> {
 protected:
  static constexpr std::uint64_t kFlows = 3000;

  void SetUp() override {
    auto statistics = make_statistics(std::vector<std::string>{"size_mean"}, {});
    ASSERT_TRUE(statistics);
    stage_ = GetParam()->make({.flows = 2000,
                               .timeouts = {.idle_ns = 2'000'000},
                               .statistics = {std::make_shared<const StatisticSet>(*std::move(statistics)), 1}});
  }

  void packets(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i, ++sent_) {
      PacketFacts facts;
      const std::uint64_t flow = random_.below(kFlows);
      facts.key = {};
      facts.key.ip_version = flow % 3 == 0 ? 6 : 4;
      facts.key.protocol = 17;
      std::memcpy(facts.key.address.data(), &flow, 4);
      facts.time_ns = sent_ * 1000;
      facts.counts = CountWord::narrow(46 + random_.below(1400), 14, 0);
      facts.hash = identity_.hash(facts.key);
      wire_bytes_[flow] += facts.wire_bytes();
      const LinkPlace place{sent_, facts.time_ns};
      stage_->admit({&facts, 1}, {&place, 1}, {});
    }
  }

  /// The row knows the same packets as the counters.
  void check(const FlowRecord& record, std::span<const std::byte> row) {
    std::uint64_t flow = 0;
    std::memcpy(&flow, record.key.address.data(), 4);
    ASSERT_LT(flow, kFlows);
    std::optional<double> mean;
    stage_->statistics().set->read(row.data(), {&mean, 1});
    ASSERT_TRUE(mean);
    ASSERT_NEAR(*mean * static_cast<double>(record.packets), static_cast<double>(record.wire_bytes), 1e-3)
        << "the row is another flow's";
  }

  /// Of the records that ended since the last call, those of snapshots up to `number`.
  std::uint64_t ended_packets(std::uint64_t number) {
    stage_->ended().drain([&](std::span<const std::byte> bytes) {
      const RecordView view(bytes);
      check(view.header.record, view.row);
      ended_by_snapshot_[view.header.snapshot] += view.header.record.packets;
      std::uint64_t flow = 0;
      std::memcpy(&flow, view.header.record.key.address.data(), 4);
      ended_bytes_[flow] += view.header.record.wire_bytes;
    });
    std::uint64_t packets = 0;
    for (const auto& [snapshot, ended] : ended_by_snapshot_)
      if (snapshot <= number) packets += ended;
    return packets;
  }

  void check_snapshot(const Snapshot& snapshot) {
    ASSERT_LE(snapshot.counts[Counter::live_flows], GetParam()->slots(2000));
    ASSERT_EQ(snapshot.counts[Counter::live_flow_packets] + snapshot.counts[Counter::ended_record_packets],
              snapshot.counts[Counter::arrived]);
    ASSERT_EQ(ended_packets(snapshot.number), snapshot.counts[Counter::ended_record_packets]);
    // A flow may be there twice: a record that was copied and ended since, and the next one, that was still to be.
    std::set<std::pair<std::string, std::uint64_t>> seen;
    std::uint64_t packets = 0;
    for (std::uint64_t i = 0; i < snapshot.counts[Counter::live_flows]; ++i) {
      const RecordView view({snapshot.flows.data() + i * snapshot.stride, snapshot.stride});
      check(view.header.record, view.row);
      const FlowKey& key = view.header.record.key;
      const std::string key_bytes(reinterpret_cast<const char*>(&key), key.significant_bytes());
      ASSERT_TRUE(seen.emplace(key_bytes, view.header.record.first_ns).second) << "a record is there twice";
      packets += view.header.record.packets;
    }
    ASSERT_EQ(packets, snapshot.counts[Counter::live_flow_packets]);
  }

  const FlowIdentity identity_{KeyFields::five_tuple, Identity::exact, 5};
  SplitMix64 random_{5};
  std::unique_ptr<FlowStage> stage_;
  std::uint64_t sent_ = 0;
  std::map<std::uint64_t, std::uint64_t> wire_bytes_, ended_bytes_, ended_by_snapshot_;
};

std::vector<const TableEntry*> exact_tables() {
  std::vector<const TableEntry*> exact;
  for (const TableEntry& table : table_registry())
    if (table.exact) exact.push_back(&table);
  return exact;
}
INSTANTIATE_TEST_SUITE_P(Registry, ExactMonitors, ::testing::ValuesIn(exact_tables()), [](const auto& tested) {
  std::string name(tested.param->name);
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_P(ExactMonitors, KeepRowsAndSnapshotsRightWhileFlowsComeAndGoAndMove) {
  std::uint64_t snapshots = 0;
  stage_->request_snapshot(1);
  while (snapshots < 30) {
    packets(40);
    stage_->housekeep({});
    if (const Snapshot* snapshot = stage_->snapshot_ready()) {
      check_snapshot(*snapshot);
      if (HasFatalFailure()) return;
      stage_->request_snapshot(++snapshots + 1);
    }
  }
  stage_->drain();
  const StageCounts counts = stage_->counts();
  EXPECT_EQ(counts[Counter::arrived], sent_);
  EXPECT_GT(counts[Counter::ended_records], 1000u);
  EXPECT_EQ(ended_packets(~0ull) + counts[Counter::live_flow_packets], sent_);
  std::map<std::uint64_t, std::uint64_t> bytes = ended_bytes_;
  stage_->visit([&](const FlowRecord& record, std::span<const std::byte> row) {
    check(record, row);
    std::uint64_t flow = 0;
    std::memcpy(&flow, record.key.address.data(), 4);
    bytes[flow] += record.wire_bytes;
  });
  EXPECT_EQ(bytes, wire_bytes_);
}

}  // namespace
}  // namespace parshall
