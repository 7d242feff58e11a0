// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/random.hpp"
#include "engine/flow_stage.hpp"
#include "engine/tables.hpp"

namespace parshall {
namespace {

/// Class 0 where the first size is odd, 1 where it is even, unknown where it divides by 7.
class ByFirst final : public Classifier {
 public:
  std::size_t packets() const noexcept override { return 4; }
  std::span<const std::string> classes() const noexcept override { return classes_; }
  void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept override {
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = class_of(sizes[4 * i]);
  }
  static ClassId class_of(std::uint64_t size) noexcept {
    return size % 7 == 0 ? kUnknownClass : static_cast<ClassId>(1 - size % 2);
  }

 private:
  std::vector<std::string> classes_{"odd", "even"};
};

/// What is known of a flow, record by record.
struct Truth {
  std::vector<std::uint32_t> first_sizes;  ///< of the flow, which an active timeout does not end
  std::uint64_t last_ns = 0, first_ns = 0;
};

/// Traffic with idle and active timeouts, evictions, late packets and frames that do not fit a packed word.
class FirstPackets : public ::testing::TestWithParam<const TableEntry*> {
 protected:
  static constexpr std::uint64_t kFlows = 3000, kIdleNs = 20'000'000, kActiveNs = 50'000'000;

  void run(const std::vector<std::string>& names, std::uint64_t flows, std::uint64_t packets, bool splits,
           ToldBy told_by = ToldBy::worker) {
    const StatisticOptions options{
        .classifier = std::make_shared<ByFirst>(), .classes_told_by = told_by, .origins = true};
    statistics_ = std::make_shared<const StatisticSet>(*make_statistics(names, options));
    stage_ = GetParam()->make({.flows = flows,
                               .timeouts = {.idle_ns = kIdleNs, .active_ns = splits ? kActiveNs : 0},
                               .statistics = {statistics_, 1},
                               .class_rings = told_by == ToldBy::worker ? 0u : 2u,
                               .class_ring_jobs = 64});
    SplitMix64 random(7);
    for (std::uint64_t i = 0; i < packets; ++i) {
      // A few flows have most packets.
      const std::uint64_t flow = random.below(3) == 0 ? random.below(kFlows) : random.below(20);
      const bool late = random.below(50) == 0;
      send(flow, i * 1000 - (late && i > 10 ? 5000 : 0),
           random.below(100) == 0 ? 65'000 : 40 + static_cast<std::uint32_t>(random.below(1400)), i);
      if (i % 64 == 0) stage_->housekeep({i, i * 1000});
      if (i % 50'000 > 30'000 && told_by == ToldBy::other_threads) tell_classes();
      if (i % 20'000 == 10'000 && snapshots_ == seen_) stage_->request_snapshot(++snapshots_);
      if (const Snapshot* const snapshot = stage_->snapshot_ready(); snapshot != nullptr && snapshots_ != seen_) {
        seen_ = snapshots_;
        check_sums(snapshot->counts);
      }
      if (i % 1000 == 0) take_ended();
    }
    stage_->drain();
    take_ended();
    stage_->visit([&](const FlowRecord& record, std::span<const std::byte> row) { check(record, row); });
    check_sums(stage_->counts());
    EXPECT_GT(seen_, 1u);
  }

  /// As the other threads do, but for what they tell of every 50th flow, which comes to nobody.
  void tell_classes() {
    for (const auto& ring : stage_->class_jobs()->rings()) {
      const std::span<const ClassJob> jobs = ring->jobs.readable(16);
      for (const ClassJob& job : jobs) {
        if (job.sizes[0] % 50 == 0) continue;
        ClassJob* const verdict = ring->verdicts.stage();
        if (verdict == nullptr) break;
        *verdict = job;
        verdict->id = ByFirst::class_of(job.sizes[0]);
      }
      ring->verdicts.flush();
      ring->jobs.release(jobs.size());
    }
  }

  ClassJobCounts class_jobs() const { return stage_->class_jobs()->counts(); }

  std::uint64_t classified_ = 0, parted_ = 0;
  StageCounts seen_counts_ = [] {
    StageCounts counts;
    counts.classes.resize(4);
    return counts;
  }();

 private:
  void send(std::uint64_t flow, std::uint64_t time_ns, std::uint32_t ip_bytes, std::uint64_t position) {
    PacketFacts facts;
    facts.key = {};
    facts.key.ip_version = flow % 3 == 0 ? 6 : 4;
    facts.key.protocol = 17;
    std::memcpy(facts.key.address.data(), &flow, 4);
    facts.time_ns = time_ns;
    facts.counts = CountWord::packet(ip_bytes, ip_bytes > 60'000 ? 60 : ip_bytes + 14, 0);
    facts.hash = identity_.hash(facts.key);
    sent_[flow].push_back({time_ns, ip_bytes});
    latest_ns_ = std::max(latest_ns_, time_ns);
    const LinkPlace place{position, latest_ns_};
    stage_->admit({&facts, 1}, {&place, 1}, {});
  }

  void take_ended() {
    stage_->ended().drain([&](std::span<const std::byte> bytes) {
      const RecordView view(bytes);
      check(view.header.record, view.row);
    });
  }

  /// Records of a flow come in their order. One that an active timeout ended leaves its first packets to the next.
  void check(const FlowRecord& record, std::span<const std::byte> row) {
    std::uint64_t flow = 0;
    std::memcpy(&flow, record.key.address.data(), 4);
    ASSERT_LT(flow, kFlows);
    const std::vector<Packet>& packets = sent_[flow];
    std::uint64_t& at = begins_[flow];
    if (!goes_on_[flow]) first_[flow] = at, number_[flow] = 0, least_ns_[flow] = packets.at(at).time_ns;
    const FlowOrigin::State origin = FlowOrigin::state_of(statistics_->origin_state(row.data()));
    ASSERT_TRUE(origin.is_known());
    ASSERT_EQ(origin.began_ns, packets[first_[flow]].time_ns);
    ASSERT_EQ(origin.record(), number_[flow]);
    ASSERT_EQ(origin.first_ns, least_ns_[flow]);
    goes_on_[flow] = record.end_reason == EndReason::active_timeout;
    parted_ += number_[flow] != 0;
    ++number_[flow];
    least_ns_[flow] = std::min(least_ns_[flow], record.first_ns);
    at += record.packets;
    ASSERT_LE(at, packets.size());
    const std::uint64_t known = std::min<std::uint64_t>(4, at - first_[flow]);
    std::vector<std::optional<double>> values(statistics_->columns().size());
    if (!values.empty()) statistics_->read(row.data(), values);
    for (std::size_t column = 0; column < values.size(); ++column) {
      const std::string& name = statistics_->columns()[column].name;
      if (!name.starts_with("ip_size_") || name == "ip_size_mean_bytes") continue;
      const auto number = static_cast<std::uint64_t>(name[8] - '1');
      ASSERT_EQ(values[column].has_value(), number < known) << name << ", flow " << flow << " of " << record.packets;
      if (number < known) {
        ASSERT_EQ(*values[column], packets[first_[flow] + number].ip_bytes) << name << " of flow " << flow;
      }
    }
    if (!statistics_->classifies()) return;
    const ClassId id = statistics_->class_of(row.data());
    ASSERT_EQ(id, known == 4 ? ByFirst::class_of(packets[first_[flow]].ip_bytes) : kNotClassified);
    classified_ += known == 4;
    seen_counts_.add_to_class(id, record);
  }

  void check_sums(const StageCounts& counts) const {
    if (!statistics_->classifies()) return;
    ClassCounts all;
    for (const ClassCounts& one : counts.classes) all += one;
    EXPECT_EQ(all[ClassCounter::flows], counts[Counter::live_flows] + counts[Counter::ended_records]);
    EXPECT_EQ(all[ClassCounter::packets], counts[Counter::arrived]);
    EXPECT_EQ(all[ClassCounter::ip_bytes], counts[Counter::ip_bytes]);
    EXPECT_EQ(all[ClassCounter::wire_bytes], counts[Counter::wire_bytes]);
  }

 protected:
  void expect_same_classes() const {
    const StageCounts counts = stage_->counts();
    ASSERT_EQ(counts.classes.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(counts.classes[i][ClassCounter::flows], seen_counts_.classes[i][ClassCounter::flows]) << i;
      EXPECT_EQ(counts.classes[i][ClassCounter::packets], seen_counts_.classes[i][ClassCounter::packets]) << i;
      EXPECT_GT(counts.classes[i][ClassCounter::flows], 0u) << i;
    }
  }

 private:
  struct Packet {
    std::uint64_t time_ns;
    std::uint32_t ip_bytes;
  };

  FlowIdentity identity_{KeyFields::five_tuple, Identity::exact, 3};
  std::shared_ptr<const StatisticSet> statistics_;
  std::unique_ptr<FlowStage> stage_;
  using PerFlow = std::vector<std::uint64_t>;
  std::vector<std::vector<Packet>> sent_ = std::vector<std::vector<Packet>>(kFlows);
  PerFlow begins_ = PerFlow(kFlows), first_ = PerFlow(kFlows);  ///< of the next record, and of the flow: packets of it
  PerFlow number_ = PerFlow(kFlows), least_ns_ = PerFlow(kFlows);  ///< of the next record; of the flow's ended ones
  std::vector<bool> goes_on_ = std::vector<bool>(kFlows);
  std::uint64_t snapshots_ = 0, seen_ = 0, latest_ns_ = 0;
};

TEST_P(FirstPackets, AreThoseOfEachFlowWhereNothingElseIsMeasured) {
  run({"class", "ip_size_1", "ip_size_2", "ip_size_3", "ip_size_4"}, 4 * kFlows, 100'000, /*splits=*/false);
  EXPECT_GT(classified_, 1000u);
  expect_same_classes();
}

TEST_P(FirstPackets, GoThroughTheRecordsThatAnActiveTimeoutParts) {
  run({"class", "ip_size_1", "ip_size_2", "ip_size_3", "ip_size_4"}, 4 * kFlows, 100'000, /*splits=*/true);
  EXPECT_GT(classified_, 1000u);
  expect_same_classes();
}

TEST_P(FirstPackets, AreTheSameAmongStatisticsOfAllPackets) {
  run({"class", "ip_size_1", "ip_size_4", "ip_size_mean", "gap_mean"}, 4 * kFlows, 100'000, /*splits=*/true);
  expect_same_classes();
}

TEST_P(FirstPackets, GiveTheSameClassesWhereOtherThreadsTellThem) {
  run({"class", "ip_size_1", "ip_size_4"}, 4 * kFlows, 200'000, /*splits=*/true, ToldBy::other_threads);
  expect_same_classes();
  EXPECT_GT(class_jobs().told, 1000u);
  EXPECT_GT(class_jobs().refused, 1000u);
  EXPECT_LT(class_jobs().told, class_jobs().sent);
}

TEST_P(FirstPackets, GiveThemAmongStatisticsOfAllPacketsAsWell) {
  run({"class", "ip_size_1", "size_mean"}, 4 * kFlows, 200'000, /*splits=*/true, ToldBy::other_threads);
  expect_same_classes();
  EXPECT_GT(class_jobs().refused, 1000u);
}

TEST_P(FirstPackets, OfFlowsThatWereEvictedAreWithTheirRecords) {
  run({"class", "ip_size_1", "ip_size_2"}, 200, 50'000, /*splits=*/false);
  EXPECT_GT(classified_, 20u);
}

/// check() looks at origins in all of these; here nothing else is kept.
TEST_P(FirstPackets, EachRecordTellsWhereItsFlowBegan) {
  run({}, 4 * kFlows, 100'000, /*splits=*/true);
  EXPECT_GT(parted_, 20u);
}

TEST_P(FirstPackets, EachRecordTellsWhereItsFlowBeganAlsoWhereSomeAreEvicted) {
  run({}, 1000, 200'000, /*splits=*/true);
  EXPECT_GT(parted_, 5u);
}

std::vector<const TableEntry*> tables_for_first_packets() {
  std::vector<const TableEntry*> tables;
  for (const TableEntry& table : table_registry())
    if (table.exact) tables.push_back(&table);
  return tables;
}

INSTANTIATE_TEST_SUITE_P(Tables, FirstPackets, ::testing::ValuesIn(tables_for_first_packets()), [](const auto& tested) {
  std::string name(tested.param->name);
  std::erase_if(name, [](char c) { return c == '-'; });
  return name;
});

}  // namespace
}  // namespace parshall
