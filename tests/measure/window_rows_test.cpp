// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/windows/window_rows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

constexpr std::size_t kSlots = 64;

FlowKey key_of_slot(std::uint32_t slot) {
  FlowKey key;
  key.ip_version = 4;
  key.address[0] = static_cast<std::uint8_t>(slot);
  return key;
}

RowUpdate packet(std::uint32_t slot, std::uint64_t time_ns, std::uint64_t latest_ns, std::uint64_t position,
                 bool starts = false) {
  return {slot, starts, CountWord::packet(100, 114, 0x10), time_ns, {position, latest_ns}};
}

/// What was told, put together again.
struct Told {
  std::map<std::uint64_t, std::map<std::uint32_t, std::uint64_t>> packets;  ///< by window and slot
  std::map<std::uint64_t, WindowTotals> totals;
  std::vector<std::uint64_t> next;
  std::size_t flows = 0;

  void read(RecordRing& ring) {
    ring.drain([this](std::span<const std::byte> bytes) {
      const auto message = read_as<WindowMessage>(bytes);
      const auto rest = bytes.subspan(sizeof message);
      if (message.kind == WindowMessage::Kind::flow) {
        const auto flow = read_as<FlowWindow>(rest);
        EXPECT_FALSE(totals.contains(message.window)) << "after its end";
        EXPECT_EQ(flow.ip_bytes, 100 * flow.packets);
        EXPECT_EQ(flow.wire_bytes, 114 * flow.packets);
        EXPECT_EQ(flow.tcp_flags, 0x10);
        packets[message.window][flow.key.address[0]] += flow.packets;
        ++flows;
      } else {
        const auto end = read_as<WindowEnd>(rest);
        if (end.totals.packets != 0) totals[message.window] = end.totals;
        EXPECT_TRUE(next.empty() || next.back() <= end.next);
        next.push_back(end.next);
      }
    });
  }
  std::uint64_t told_of(std::uint64_t window) {
    std::uint64_t sum = 0;
    for (const auto& [slot, count] : packets[window]) sum += count;
    return sum;
  }
};

class Rows : public ::testing::Test {
 protected:
  static constexpr WindowLength kLength{WindowLength::Unit::ns, 1000};

  RecordRing ring_{1 << 16};
  WindowRows rows_{WindowPlan(kLength), 0, kSlots, ring_, /*can_wait=*/false};
  Told told_;

  void update(std::vector<RowUpdate> packets) { rows_.update(packets, {}, key_of_slot); }
};

TEST_F(Rows, TellsOfAWindowWithTheNextPacketOfItsFlowsAndTheRestInSlices) {
  update({packet(1, 5000, 5000, 0), packet(2, 5001, 5001, 1), packet(1, 5999, 5999, 2), packet(3, 5999, 5999, 3)});
  told_.read(ring_);
  EXPECT_EQ(told_.flows, 0u) << "the window is open";
  update({packet(1, 6000, 6000, 4)});
  told_.read(ring_);
  EXPECT_EQ(told_.packets[5], (std::map<std::uint32_t, std::uint64_t>{{1, 2}}));
  EXPECT_TRUE(rows_.sweep(1, key_of_slot));  // slot 1 is told of already: its place in the list is a step all the same
  EXPECT_TRUE(rows_.sweep(1, key_of_slot));
  told_.read(ring_);
  EXPECT_EQ(told_.flows, 2u);
  while (rows_.sweep(1, key_of_slot)) {
  }
  told_.read(ring_);
  EXPECT_EQ(told_.packets[5], (std::map<std::uint32_t, std::uint64_t>{{1, 2}, {2, 1}, {3, 1}}));
  EXPECT_EQ(told_.totals[5].packets, 4u);
  EXPECT_EQ(told_.next.back(), 6u) << "of window 6 there may be more";
  rows_.finish({5, 6000}, key_of_slot);
  told_.read(ring_);
  EXPECT_EQ(told_.packets[6], (std::map<std::uint32_t, std::uint64_t>{{1, 1}}));
  EXPECT_TRUE(told_.totals[6].partial);
  EXPECT_FALSE(told_.totals[5].partial);
  EXPECT_EQ(told_.next.back(), WindowEnd::kAll);
}

TEST_F(Rows, ALatePacketCountsInTheOpenWindowAndAsLate) {
  update({packet(1, 5000, 5000, 0), packet(1, 4999, 5000, 1), packet(1, 6000, 6000, 2), packet(1, 5999, 6000, 3),
          packet(1, 6001, 6001, 4)});
  rows_.finish({5, 6001}, key_of_slot);
  told_.read(ring_);
  EXPECT_EQ(told_.totals[5].packets, 2u);
  EXPECT_EQ(told_.totals[5].late_packets, 1u);
  EXPECT_EQ(told_.totals[6].packets, 3u);
  EXPECT_EQ(told_.totals[6].late_packets, 1u);
}

TEST_F(Rows, AFlowThatEndsIsToldOfAtOnceAndItsSlotIsListedOnceHoweverOftenItIsUsedAnew) {
  update({packet(1, 5000, 5000, 0)});
  for (std::uint64_t i = 1; i < 10 * kSlots; ++i) {
    rows_.flow_ended(1, key_of_slot(1));
    update({packet(1, 5000, 5000, i, /*starts=*/true)});
    told_.read(ring_);
  }
  EXPECT_EQ(told_.packets[5][1], 10 * kSlots - 1);
  rows_.advance({640, 6000}, key_of_slot);
  int slices = 0;
  while (rows_.sweep(1, key_of_slot)) ++slices;
  EXPECT_LT(slices, 4);
  rows_.finish({640, 6000}, key_of_slot);
  told_.read(ring_);
  EXPECT_EQ(told_.packets[5][1], told_.totals[5].packets);
}

TEST_F(Rows, AWindowEndsOnTheClockThoughNoPacketComes) {
  update({packet(1, 5000, 5000, 0)});
  EXPECT_FALSE(rows_.ends_at({1, 5999}));
  EXPECT_TRUE(rows_.ends_at({1, 6000}));
  rows_.advance({1, 8500}, key_of_slot);
  while (rows_.sweep(8, key_of_slot)) {
  }
  told_.read(ring_);
  EXPECT_EQ(told_.told_of(5), 1u);
  EXPECT_EQ(told_.next.back(), 8u);
}

TEST_F(Rows, WithoutRoomARowIsUnlistedOnlyWhereItMustBeToldAtOnce) {
  RecordRing small(512);  // room for three rows
  WindowRows rows(WindowPlan(kLength), 0, kSlots, small, /*can_wait=*/false);
  std::vector<RowUpdate> packets;
  for (std::uint32_t slot = 0; slot < 20; ++slot) packets.push_back(packet(slot, 5000, 5000, slot));
  rows.update(packets, {}, key_of_slot);
  rows.update(std::vector{packet(40, 6000, 6000, 20)}, {}, key_of_slot);
  EXPECT_TRUE(rows.sweep(kSlots, key_of_slot)) << "the ring is full: it goes on later";
  rows.update(std::vector{packet(19, 6001, 6001, 21), packet(18, 6002, 6002, 22)}, {}, key_of_slot);  // these cannot wait
  while (rows.sweep(kSlots, key_of_slot)) told_.read(small);
  told_.read(small);
  EXPECT_EQ(told_.totals[5].unlisted_packets, 2u);
  EXPECT_EQ(told_.totals[5].unlisted_flows, 2u);
  EXPECT_EQ(told_.totals[5].unlisted_wire_bytes, 228u);
  EXPECT_EQ(told_.told_of(5) + told_.totals[5].unlisted_packets, told_.totals[5].packets);
}

/// Flows that come, go, move and are swept in slices of any size, windows of any kind: nothing is lost or told twice.
TEST(WindowRows, WhatIsToldAndUnlistedIsAllThatWasCountedOverAnyCourse) {
  for (const WindowLength length :
       {WindowLength{WindowLength::Unit::ns, 500}, WindowLength{WindowLength::Unit::packets, 77}}) {
    for (const bool can_wait : {true, false}) {
      SplitMix64 random(7);
      RecordRing ring(4096);
      WindowRows rows(WindowPlan(length), 0, kSlots, ring, can_wait);
      Told told;
      std::map<std::uint64_t, std::uint64_t> truth;
      std::vector<bool> used(kSlots);
      LinkPlace link{0, 10'000};
      const auto read_to_the_end = [&] {
        while (told.next.empty() || told.next.back() != WindowEnd::kAll) told.read(ring);
      };
      std::thread reader;
      if (can_wait) reader = std::thread(read_to_the_end);  // it would wait for ever without one
      for (int step = 0; step < 200'000; ++step) {
        const auto slot = static_cast<std::uint32_t>(random.below(kSlots));
        const std::uint64_t what = random.below(100);
        if (what < 70) {
          link.latest_ns += random.below(5);
          if (random.below(500) == 0) link.latest_ns += 2000;
          ++truth[length.number(link)];
          rows.update(
              std::vector{packet(slot, link.latest_ns - random.below(300), link.latest_ns, link.position, !used[slot])},
              {}, key_of_slot);
          used[slot] = true;
          ++link.position;
        } else if (what < 75 && used[slot]) {
          rows.flow_ended(slot, key_of_slot(slot));
          used[slot] = false;
        } else if (what < 80) {
          const auto to = static_cast<std::uint32_t>(random.below(kSlots));
          if (!used[slot] || used[to]) continue;
          used[slot] = false;
          used[to] = true;
          rows.flow_moved(slot, to, key_of_slot(slot));
        } else {
          rows.sweep(static_cast<std::uint32_t>(random.below(20)), key_of_slot);
        }
        if (!can_wait && random.below(20) == 0) told.read(ring);
      }
      if (!can_wait) reader = std::thread(read_to_the_end);
      rows.finish(link, key_of_slot);
      reader.join();
      ASSERT_GT(truth.size(), 100u);
      ASSERT_EQ(told.totals.size(), truth.size());
      std::uint64_t unlisted = 0;
      for (const auto& [window, packets] : truth) {
        ASSERT_EQ(told.totals[window].packets, packets);
        ASSERT_EQ(told.told_of(window) + told.totals[window].unlisted_packets, packets);
        unlisted += told.totals[window].unlisted_packets;
      }
      EXPECT_EQ(unlisted != 0, !can_wait) << "the small ring has to be full now and then";
    }
  }
}

}  // namespace
}  // namespace parshall
