// SPDX-License-Identifier: Apache-2.0
#include "engine/snapshotter.hpp"

#include <gtest/gtest.h>

#include <map>

#include "pipeline/output/records/ended_record.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kSlots = 600;  // three slices

FlowRecord flow(std::uint64_t packets) {
  FlowRecord record{};
  record.packets = packets;
  return record;
}

/// A worker's flows, by slot: only their packets.
class Flows {
 public:
  explicit Flows(bool move) : snapshotter_(move, nullptr, {}) {
    snapshotter_.request(7);
    EXPECT_TRUE(snapshotter_.is_wanted());
    EXPECT_TRUE(snapshotter_.begin(kSlots, {}));
    EXPECT_FALSE(snapshotter_.has_any());
  }

  void advance() {
    snapshotter_.advance([&](std::uint32_t slot) {
      if (packets_.contains(slot)) copy(slot);
    });
  }
  void move(std::uint32_t from, std::uint32_t to) {
    packets_[to] = packets_.extract(from).mapped();
    if (snapshotter_.flow_moved(from, to)) copy(to);
  }
  std::uint64_t end(std::uint32_t slot, bool has_slot) {
    const FlowRecord record = flow(packets_.extract(slot).mapped());
    const TalliedFlow ended{record, {}, kNotClassified};
    ended_.count_ended(ended);
    return snapshotter_.flow_ended(ended, has_slot);
  }

  /// Packets of the flows that were copied, by how many of them have so many.
  std::map<std::uint64_t, int> finish(std::uint64_t arrived) {
    EXPECT_TRUE(snapshotter_.has_all());
    EXPECT_EQ(snapshotter_.ready(), nullptr);
    StageCounts flowless;
    flowless.set(Counter::arrived, arrived);
    snapshotter_.finish(ended_, flowless);
    const Snapshot* const snapshot = snapshotter_.ready();
    std::map<std::uint64_t, int> copies;
    if (snapshot == nullptr) return copies;
    counts_ = snapshot->counts;
    for (std::uint64_t i = 0; i < counts_[Counter::live_flows]; ++i) {
      const RecordView view({snapshot->flows.data() + i * snapshot->stride, snapshot->stride});
      EXPECT_EQ(view.header.snapshot, 7);
      ++copies[view.header.record.packets];
    }
    return copies;
  }

  std::map<std::uint32_t, std::uint64_t> packets_;
  Snapshotter snapshotter_;
  FlowTally ended_{nullptr};
  StageCounts counts_;

 private:
  void copy(std::uint32_t slot) { snapshotter_.copy({flow(packets_[slot]), {}, kNotClassified}); }
};

TEST(Snapshotter, CopiesAMovedFlowOnceWhicheverWayItWent) {
  Flows flows(/*move=*/true);
  flows.packets_ = {{10, 1}, {300, 2}, {599, 4}};
  flows.advance();
  flows.move(10, 500);   // copied, to where it would be again
  flows.move(300, 20);   // not yet, to where nothing is copied any more
  flows.move(599, 598);  // ahead of the copy
  flows.packets_[300] = 8;
  EXPECT_TRUE(flows.snapshotter_.has<true>(300)) << "what came to a place left is later";
  flows.advance();
  flows.advance();
  EXPECT_EQ(flows.finish(7), (std::map<std::uint64_t, int>{{1, 1}, {2, 1}, {4, 1}}));
  EXPECT_FALSE(flows.snapshotter_.has<true>(20)) << "the next copy starts with none";
}

TEST(Snapshotter, KnowsWhatIsLaterThanTheCopy) {
  Flows flows(/*move=*/false);
  flows.packets_ = {{10, 5}, {300, 3}};
  flows.advance();
  EXPECT_TRUE(flows.snapshotter_.has<false>(10));
  EXPECT_FALSE(flows.snapshotter_.has<false>(300));
  flows.snapshotter_.add_later_packet();  // to slot 10
  ++flows.packets_[10];
  EXPECT_EQ(flows.end(10, true), 8) << "its flow is in this report, its record in the next";
  EXPECT_EQ(flows.end(300, false), 7);
  flows.advance();
  flows.advance();
  EXPECT_EQ(flows.finish(9), (std::map<std::uint64_t, int>{{5, 1}}));
  EXPECT_EQ(flows.counts_[Counter::arrived], 8);
  EXPECT_EQ(flows.counts_[Counter::ended_records], 1);
  EXPECT_EQ(flows.counts_[Counter::ended_record_packets], 3);
  flows.packets_ = {{1, 1}};
  EXPECT_EQ(flows.end(1, flows.snapshotter_.has<false>(1)), 8);
}

TEST(Snapshotter, AsksForEachSlotAgainInTheNextCopy) {
  Flows flows(/*move=*/true);
  flows.advance();
  flows.advance();
  flows.advance();
  flows.finish(0);
  EXPECT_FALSE(flows.snapshotter_.is_wanted());
  EXPECT_FALSE(flows.snapshotter_.is_copying());
  flows.snapshotter_.request(8);
  EXPECT_EQ(flows.snapshotter_.ready(), nullptr);
  flows.packets_ = {{0, 1}};
  ASSERT_TRUE(flows.snapshotter_.begin(kSlots, {}));
  int asked = 0;
  for (int i = 0; i < 3; ++i) flows.snapshotter_.advance([&](std::uint32_t) { ++asked; });
  EXPECT_EQ(asked, kSlots);
}

}  // namespace
}  // namespace parshall
