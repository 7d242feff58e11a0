// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/windows/window_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../thorough.hpp"
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
  return {slot, starts, false, false, CountWord::packet(100, 114, 0x10), time_ns, {position, latest_ns}};
}

/// What was told, put together again.
struct Told {
  std::map<std::uint64_t, std::map<std::uint32_t, std::uint64_t>> packets;  ///< by window and slot
  std::map<std::uint64_t, WindowTotals> totals;
  std::vector<std::uint64_t> next;
  std::size_t flows = 0, parts = 0;

  void read(RecordRing& ring) {
    ring.drain([this](std::span<const std::byte> bytes) {
      const auto message = read_as<WindowMessage>(bytes);
      const auto rest = bytes.subspan(sizeof message);
      const bool are_rows = take_rows(bytes, [&](const FlowWindow& flow) {
        EXPECT_FALSE(totals.contains(message.window)) << "after its end";
        EXPECT_EQ(flow.ip_bytes, 100 * flow.packets);
        EXPECT_EQ(flow.wire_bytes, 114 * flow.packets);
        EXPECT_EQ(flow.tcp_flags, 0x10);
        packets[message.window][flow.key.address[0]] += flow.packets;
        ++flows;
        parts += flow.is_part;
      });
      if (!are_rows) {
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
  SlotRows slots_{kSlots, 16};
  WindowRows rows_{WindowPlan(kLength), 0, slots_, ring_, /*can_wait=*/false};
  Told told_;

  void update(std::vector<RowUpdate> packets) { rows_.update(packets, {}, key_of_slot); }
};

TEST_F(Rows, TellsOfAWindowWhenItEnds) {
  update({packet(1, 5000, 5000, 0), packet(2, 5001, 5001, 1), packet(1, 5999, 5999, 2), packet(3, 5999, 5999, 3)});
  told_.read(ring_);
  EXPECT_EQ(told_.flows, 0u) << "the window is open";
  update({packet(1, 6000, 6000, 4)});
  told_.read(ring_);
  EXPECT_EQ(told_.packets[5], (std::map<std::uint32_t, std::uint64_t>{{1, 2}, {2, 1}, {3, 1}}));
  EXPECT_FALSE(told_.totals.contains(5)) << "the end comes with housekeeping";
  EXPECT_FALSE(rows_.tell());
  told_.read(ring_);
  EXPECT_EQ(told_.totals[5].packets, 4u);
  EXPECT_EQ(told_.next.back(), 6u) << "of window 6 there may be more";
  rows_.finish({5, 6000});
  told_.read(ring_);
  EXPECT_EQ(told_.packets[6], (std::map<std::uint32_t, std::uint64_t>{{1, 1}}));
  EXPECT_TRUE(told_.totals[6].partial);
  EXPECT_FALSE(told_.totals[5].partial);
  EXPECT_EQ(told_.next.back(), WindowEnd::kAll);
}

TEST_F(Rows, ARecordThatIsEvictedInItsWindowIsAPartAndSoIsAPacketKeptOut) {
  update({packet(1, 5000, 5000, 0), packet(2, 5001, 5001, 1)});
  rows_.flow_ended(1, /*evicted=*/true);
  rows_.flow_ended(2, /*evicted=*/false);
  EXPECT_EQ(rows_.evicted(), 1u);
  PacketFacts facts;
  facts.key = key_of_slot(3);
  facts.time_ns = 5002;
  facts.counts = CountWord::packet(100, 114, 0x10);
  rows_.tell_alone(facts, {2, 5002});
  update({packet(4, 5003, 5003, 3), packet(5, 6000, 6000, 4)});
  rows_.flow_ended(4, /*evicted=*/true);
  EXPECT_EQ(rows_.evicted(), 1u) << "it had no packet in the open window";
  rows_.finish({5, 6001});
  told_.read(ring_);
  EXPECT_EQ(told_.parts, 2u);
  EXPECT_EQ(told_.totals[5].packets, 4u);
  EXPECT_EQ(told_.packets[5], (std::map<std::uint32_t, std::uint64_t>{{1, 1}, {2, 1}, {3, 1}, {4, 1}}));
}

TEST_F(Rows, ALatePacketCountsInTheOpenWindowAndAsLate) {
  update({packet(1, 5000, 5000, 0), packet(1, 4999, 5000, 1), packet(1, 6000, 6000, 2), packet(1, 5999, 6000, 3),
          packet(1, 6001, 6001, 4)});
  rows_.finish({5, 6001});
  told_.read(ring_);
  EXPECT_EQ(told_.totals[5].packets, 2u);
  EXPECT_EQ(told_.totals[5].late_packets, 1u);
  EXPECT_EQ(told_.totals[6].packets, 3u);
  EXPECT_EQ(told_.totals[6].late_packets, 1u);
}

TEST_F(Rows, FlowsThatEndArePassedOnBeforeTheWindowEndsIfNoRowIsFree) {
  update({packet(0, 5000, 5000, 0)});  // it stays, in a row that moves
  const auto ended = static_cast<std::uint32_t>(100 * kSlots);
  for (std::uint32_t i = 1; i < ended; ++i) {
    update({packet(1, 5000, 5000, i, /*starts=*/true)});
    rows_.flow_ended(1);
    if (i % 1000 == 0) update({packet(0, 5000, 5000, i)});
    if (i % 8 == 0) told_.read(ring_);
  }
  EXPECT_GT(told_.packets[5][1], ended / 2) << "in the open window";
  EXPECT_EQ(told_.packets[5].count(0), 0u) << "it is not at its end";
  rows_.finish({ended, 5999});
  told_.read(ring_);
  EXPECT_EQ(told_.totals[5].unlisted_packets, 0u);
  EXPECT_EQ(told_.packets[5][0], 1 + (ended - 1) / 1000);
  EXPECT_EQ(told_.packets[5][1], ended - 1);
}

TEST_F(Rows, AWindowEndsOnTheClockThoughNoPacketComes) {
  update({packet(1, 5000, 5000, 0)});
  EXPECT_FALSE(rows_.ends_at({1, 5999}));
  EXPECT_TRUE(rows_.ends_at({1, 6000}));
  rows_.advance({1, 8500});
  while (rows_.tell()) {
  }
  told_.read(ring_);
  EXPECT_EQ(told_.told_of(5), 1u);
  EXPECT_EQ(told_.next.back(), 8u);
}

TEST_F(Rows, FlowsForWhichNoRowIsFreeAreUnlisted) {
  std::uint64_t position = 0;
  for (std::uint64_t window = 5; window < 10; ++window)  // all slots have a row in each, and nobody reads them
    for (std::uint32_t slot = 0; slot < kSlots; ++slot)
      update({packet(slot, 1000 * window, 1000 * window, position++),
              packet(slot, 1000 * window, 1000 * window, position++)});
  rows_.finish({position, 9999});
  told_.read(ring_);
  std::uint64_t unlisted = 0;
  for (std::uint64_t window = 5; window < 10; ++window) {
    const WindowTotals& totals = told_.totals[window];
    EXPECT_EQ(totals.packets, 2 * kSlots);
    EXPECT_EQ(told_.told_of(window) + totals.unlisted_packets, totals.packets);
    EXPECT_EQ(totals.unlisted_packets, 2 * totals.unlisted_flows);
    EXPECT_EQ(totals.unlisted_wire_bytes, 114 * totals.unlisted_packets);
    unlisted += totals.unlisted_packets;
  }
  EXPECT_EQ(told_.totals[5].unlisted_packets, 0u);
  EXPECT_GT(unlisted, 5 * kSlots);
}

/// Flows that come, go and move, windows of any kind, read now and then: nothing is lost or told twice.
TEST(WindowRows, WhatIsToldAndUnlistedIsAllThatWasCountedOverAnyCourse) {
  const int steps = thorough() ? 200'000 : 50'000;
  for (const WindowLength length :
       {WindowLength{WindowLength::Unit::ns, 500}, WindowLength{WindowLength::Unit::packets, 77}}) {
    for (const bool can_wait : {true, false}) {
      SplitMix64 random(7);
      RecordRing ring(4096);
      SlotRows slots(kSlots, 16);
      WindowRows rows(WindowPlan(length), 0, slots, ring, can_wait);
      Told told;
      std::map<std::uint64_t, std::uint64_t> truth;
      std::vector<bool> used(kSlots);
      LinkPlace link{0, 10'000};
      const auto read_to_the_end = [&] {
        while (told.next.empty() || told.next.back() != WindowEnd::kAll) {
          told.read(ring);
          std::this_thread::yield();
        }
      };
      std::thread reader;
      if (can_wait) reader = std::thread(read_to_the_end);  // it would wait for ever without one
      for (int step = 0; step < steps; ++step) {
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
          rows.flow_ended(slot);
          used[slot] = false;
        } else if (what < 80) {
          const auto to = static_cast<std::uint32_t>(random.below(kSlots));
          if (!used[slot] || used[to]) continue;
          used[slot] = false;
          used[to] = true;
          rows.flow_moved(slot, to);
        } else {
          rows.tell();
        }
        if (!can_wait && random.below(300) == 0) told.read(ring);
      }
      if (!can_wait) reader = std::thread(read_to_the_end);
      rows.finish(link);
      reader.join();
      ASSERT_GT(truth.size(), 100u);
      ASSERT_EQ(told.totals.size(), truth.size());
      std::uint64_t unlisted = 0;
      for (const auto& [window, packets] : truth) {
        ASSERT_EQ(told.totals[window].packets, packets);
        ASSERT_EQ(told.told_of(window) + told.totals[window].unlisted_packets, packets);
        unlisted += told.totals[window].unlisted_packets;
      }
      EXPECT_EQ(unlisted != 0, !can_wait) << "the rows have to be full now and then";
    }
  }
}

/// Counts packets, and tells in which order they came: sum' = sum * 31 + a number of theirs.
class OrderOf final : public FlowMeasure {
 public:
  struct Row {
    std::uint64_t packets, sum;
    std::array<std::uint64_t, 8> filling;  ///< up to the size asked for
  };
  enum class Touched { always, rarely };

  OrderOf(std::string name, std::size_t row_bytes, FindingNeeds needs, std::uint64_t PacketFinding::*number,
          Touched touched = Touched::always)
      : name_(std::move(name)), row_bytes_(row_bytes), needs_(needs), number_(number), touched_(touched) {}

  std::string name() const override { return name_; }
  std::size_t row_bytes() const noexcept override { return row_bytes_; }
  FindingNeeds needs() const noexcept override { return needs_; }
  bool is_rare() const noexcept override { return touched_ == Touched::rarely; }
  void update(const MeasureBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::uint64_t* const values = &batch.part<std::uint64_t>(i);
      for (std::size_t at = 2; at < row_bytes_ / 8; ++at) values[at] = ~std::uint64_t{0};
      ++values[0];
      values[1] = values[1] * 31 + batch.packet(i).*number_;
    }
  }

 private:
  std::string name_;
  std::size_t row_bytes_;
  FindingNeeds needs_;
  std::uint64_t PacketFinding::*number_;
  Touched touched_;
};

std::shared_ptr<OrderOf> measure(const char* name, std::size_t row_bytes, FindingNeeds needs = {},
                                 OrderOf::Touched touched = OrderOf::Touched::always) {
  return std::make_shared<OrderOf>(name, row_bytes, needs, &PacketFinding::iat_ns, touched);
}

TEST(MeasureSet, MeasuresOfOneNameAreKeptOnceAndEachAtItsOwnPlace) {
  MeasureSet set;
  EXPECT_FALSE(set.needs().any());
  EXPECT_EQ(set.bytes(), 0u);
  EXPECT_EQ(set.add(measure("a", 16, {.iat = true})), 0u);
  EXPECT_EQ(set.add(measure("b", 24)), 16u);
  EXPECT_EQ(set.needs(), (FindingNeeds{.iat = true}));
  EXPECT_EQ(set.add(measure("a", 16, {.iat = true})), 0u);
  EXPECT_EQ(set.add(measure("c", 16, {.tcp = true})), 40u);
  EXPECT_EQ(set.measures().size(), 3u);
  EXPECT_EQ(set.bytes(), 56u);
  EXPECT_EQ(set.needs(), (FindingNeeds{.iat = true, .tcp = true}));
}

TEST(MeasureSet, TheFirstLineHasWhatEveryPacketTouchesWhileItFits) {
  MeasureSet set;
  EXPECT_EQ(set.add(measure("rare", 8, {}, OrderOf::Touched::rarely)), 64u) << "though there is room";
  EXPECT_EQ(set.bytes(), 72u);
  EXPECT_EQ(set.add(measure("a", 16)), 0u);
  EXPECT_EQ(set.add(measure("large", 80)), 72u);
  EXPECT_EQ(set.add(measure("b", 48)), 16u) << "up to the line's end";
  EXPECT_EQ(set.add(measure("c", 8)), 152u) << "the line is full";
  EXPECT_EQ(set.add(measure("rare", 8, {}, OrderOf::Touched::rarely)), 64u);
  EXPECT_EQ(set.add(measure("large", 80)), 72u);
  EXPECT_EQ(set.bytes(), 160u);
}

/// A packet that begins a row may move other rows, those of the same batch among them.
TEST(MeasuredRows, CountEachPacketThoughRowsMove) {
  WindowPlan plan(WindowLength{WindowLength::Unit::ns, 1000}, [] {
    auto measures = std::make_shared<MeasureSet>();
    measures->add(measure("all", 16, {.iat = true}));
    return measures;
  }());
  RecordRing ring(1 << 16);
  SlotRows slots(64, 16);
  WindowRows rows(std::move(plan), 0, slots, ring, /*can_wait=*/false);
  std::uint64_t packets = 0, measured = 0;
  const auto read = [&] {
    ring.drain([&](std::span<const std::byte> bytes) {
      if (read_as<WindowMessage>(bytes).kind != WindowMessage::Kind::rows) return;
      const auto message = read_as<RowsMessage>(bytes);
      message.pool->consume(
          message.rows,
          [&](const WindowRow& row, const FlowKey&) {
            packets += row.packets;
            measured += measured_as<std::uint64_t>(row.measured());
          },
          [] {});
    });
  };
  constexpr std::uint64_t kBatches = 5000;
  const std::array<PacketFinding, 2> findings{};
  const auto key_of = [](std::uint32_t) { return FlowKey{}; };
  for (std::uint64_t i = 0; i < kBatches; ++i) {
    const std::array batch{RowUpdate{0, i == 0, false, false, CountWord::packet(100, 114, 0), 5000, {2 * i, 5000}},
                           RowUpdate{1, true, false, false, CountWord::packet(100, 114, 0), 5000, {2 * i + 1, 5000}}};
    rows.update(batch, findings, key_of);
    rows.flow_ended(1);
    read();
  }
  rows.finish({2 * kBatches, 5001});
  read();
  EXPECT_EQ(packets, 2 * kBatches);
  EXPECT_EQ(measured, packets);
}

/// Flows with measures in windows of one length, and what a plain model says of them. Each record has a key of its own.
class Measured {
 public:
  Measured(WindowLength length, std::vector<std::uint64_t> masks, std::uint64_t seed)
      : length_(length),
        masks_(std::move(masks)),
        random_(seed),
        ring_(1 << 20),
        slots_(kSlots, 16),
        rows_(plan(), 0, slots_, ring_, /*can_wait=*/false, kWaitingRows) {}

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const auto slot = static_cast<std::uint32_t>(random_.below(kSlots));
      const std::uint64_t what = random_.below(100);
      if (what < 60) {
        play(1 + random_.below(kStatBatch));
      } else if (what < 70 && records_[slot]) {
        rows_.flow_ended(slot);
        records_[slot].reset();
      } else if (what < 80) {
        move(slot, static_cast<std::uint32_t>(random_.below(kSlots)));
      } else if (what < 83) {
        link_.latest_ns += random_.below(1500);
        rows_.advance(link_);
      } else {
        rows_.tell();
      }
      read();
      if (::testing::Test::HasFatalFailure()) return;
    }
    rows_.finish(link_);
    read();
    for (const auto& [where, parts] : model_) ASSERT_TRUE(parts.empty()) << "a part was not told of";
    ASSERT_EQ(told_by_window_, by_window_) << "the flows' packets are all of each window";
  }

  std::size_t windows() const { return by_window_.size(); }
  std::size_t ends_in_a_batch() const { return ends_in_a_batch_; }
  std::size_t most_parts() const { return most_parts_; }
  std::size_t without_measures() const { return without_measures_; }
  std::size_t changes_within_parts() const { return changes_within_parts_; }

 private:
  static constexpr std::uint8_t kStates[] = {0, 1, 2, 63};
  static constexpr std::size_t kWaitingRows = 4096;
  static constexpr std::size_t kSmallAt = 0, kLastAt = 16, kLargeAt = 64;

  /// What was counted of a record in one window and state, without a break.
  struct Part {
    std::uint8_t state, effective_state, other_state;
    bool starts;
    std::uint64_t earlier_states;
    bool more_states = false;
    std::uint64_t packets = 0, ip_bytes = 0, first_ns = 0, last_ns = 0;
    OrderOf::Row small{}, large{}, last{};
  };
  struct Record {
    std::uint32_t number = 0;
    std::uint8_t state = 0, effective_state = 0;
  };

  static std::shared_ptr<const MeasureSet> measures() {
    auto set = std::make_shared<MeasureSet>();
    EXPECT_EQ(set->add(measure("small", 16)), kSmallAt);
    EXPECT_EQ(set->add(measure("large", 80)), kLargeAt);  // over a line's border
    EXPECT_EQ(set->add(measure("last", 24)), kLastAt);
    EXPECT_EQ(set->bytes(), kLargeAt + 80);
    return set;
  }
  WindowPlan plan() const {
    WindowPlan plan(length_, measures());
    plan.by_state = by_state(masks_);
    return plan;
  }
  static std::vector<std::uint64_t> by_state(const std::vector<std::uint64_t>& masks) {
    std::vector<std::uint64_t> all(64);
    for (std::size_t i = 0; i < std::size(kStates); ++i) all[kStates[i]] = masks[i];
    return all;
  }
  static FlowKey key_of(const Record& record) {
    FlowKey key;
    key.ip_version = 4;
    std::memcpy(key.address.data(), &record.number, sizeof record.number);
    return key;
  }
  std::function<FlowKey(std::uint32_t)> key_of_slot() {
    return [this](std::uint32_t slot) { return key_of(*records_[slot]); };
  }

  void play(std::size_t count) {
    std::vector<RowUpdate> packets;
    std::vector<PacketFinding> findings;
    const std::uint64_t before = length_.number(link_);
    for (std::size_t i = 0; i < count; ++i) {
      const auto slot = static_cast<std::uint32_t>(random_.below(random_.below(2) == 0 ? kSlots : 6));
      const bool starts = !records_[slot];
      if (starts)
        records_[slot] = Record{.number = ++last_number_, .state = random_state(), .effective_state = random_state()};
      if (random_.below(8) == 0) records_[slot]->state = random_state();
      const std::uint8_t effective_before = records_[slot]->effective_state;
      if (!starts && random_.below(8) == 0) records_[slot]->effective_state = random_state();
      link_.latest_ns += random_.below(6);
      if (random_.below(400) == 0) link_.latest_ns += 1500;
      const auto bytes = static_cast<std::uint32_t>(40 + random_.below(1000));
      packets.push_back({slot, starts, false, false, CountWord::packet(bytes, bytes + 14, 0x10),
                         link_.latest_ns - random_.below(300), link_});
      findings.push_back({.state = records_[slot]->state,
                          .effective_state = records_[slot]->effective_state,
                          .effective_before = effective_before,
                          .iat_ns = random_()});
      expect(*records_[slot], packets.back(), findings.back());
      ends_in_a_batch_ += i != 0 && length_.number(link_) != before;
      ++link_.position;
    }
    rows_.update(packets, findings, key_of_slot());
  }

  /// The state before, where it had not all that the measures of the one now go by.
  std::uint8_t seen_before(std::uint8_t now, std::uint8_t before) const {
    const std::vector<std::uint64_t> all = by_state(masks_);
    return (all[now] & ~all[before]) != 0 ? before : now;
  }
  std::uint8_t random_state() { return kStates[random_.below(4)]; }

  void move(std::uint32_t from, std::uint32_t to) {
    if (!records_[from] || records_[to]) return;
    records_[to] = std::exchange(records_[from], std::nullopt);
    rows_.flow_moved(from, to);
  }

  void expect(const Record& record, const RowUpdate& packet, const PacketFinding& finding) {
    const std::uint64_t window = length_.number(packet.place);
    std::deque<Part>& parts = model_[{window, record.number}];
    std::uint64_t& states = states_[{window, record.number}];
    auto& [last_window, last_state] = last_[record.number];
    const bool same = !packet.starts_flow && last_window == window && last_state == record.state;
    if (!same) {
      if (last_window != window || packet.starts_flow) states = 0;
      parts.push_back({.state = record.state,
                       .effective_state = record.effective_state,
                       .other_state = last_window == window && !packet.starts_flow
                                          ? record.effective_state
                                          : seen_before(record.effective_state, finding.effective_before),
                       .starts = packet.starts_flow,
                       .earlier_states = states});
      parts.back().first_ns = packet.time_ns;
      most_parts_ = std::max(most_parts_, parts.size());
    }
    last_window = window, last_state = record.state;
    states |= std::uint64_t{1} << record.state;
    Part& part = parts.back();
    if (part.effective_state != record.effective_state) {
      part.more_states |= part.effective_state != part.other_state;
      part.effective_state = record.effective_state;
      changes_within_parts_ += 1;
    }
    ++part.packets;
    part.ip_bytes += packet.counts.ip_bytes();
    part.last_ns = packet.time_ns;
    const std::uint64_t mask =
        masks_[static_cast<std::size_t>(std::find(kStates, kStates + 4, record.effective_state) - kStates)];
    OrderOf::Row* const rows[] = {&part.small, &part.large, &part.last};
    for (std::size_t i = 0; i < 3; ++i) {
      if ((mask >> i & 1) == 0) continue;
      ++rows[i]->packets;
      rows[i]->sum = rows[i]->sum * 31 + finding.iat_ns;
    }
    ++by_window_[window];
  }

  void read() {
    ring_.drain([this](std::span<const std::byte> bytes) {
      const auto message = read_as<WindowMessage>(bytes);
      const bool are_rows = take_rows(bytes, [&](const FlowWindow& flow) {
        check(message.window, flow, {flow.measured, flow.measured == nullptr ? 0 : kLargeAt + 80});
      });
      if (!are_rows) {
        EXPECT_EQ(read_as<WindowEnd>(bytes.subspan(sizeof message)).totals.unlisted_packets, 0u);
      }
    });
  }

  void check(std::uint64_t window, const FlowWindow& flow, std::span<const std::byte> measured) {
    std::uint32_t number;
    std::memcpy(&number, flow.key.address.data(), sizeof number);
    std::deque<Part>& parts = model_[{window, number}];
    ASSERT_FALSE(parts.empty()) << "of record " << number << " in window " << window;
    const Part part = parts.front();
    parts.pop_front();
    ASSERT_EQ(flow.state, part.state);
    ASSERT_EQ(flow.effective_state, part.effective_state);
    ASSERT_EQ(flow.other_state, part.other_state);
    ASSERT_EQ(flow.more_states, part.more_states);
    ASSERT_EQ(flow.earlier_states, part.earlier_states);
    ASSERT_EQ(flow.starts, part.starts);
    ASSERT_EQ(flow.packets, part.packets);
    ASSERT_EQ(flow.ip_bytes, part.ip_bytes);
    ASSERT_EQ(flow.wire_bytes, part.ip_bytes + 14 * part.packets);
    ASSERT_EQ(flow.first_ns, part.first_ns);
    ASSERT_EQ(flow.last_ns, part.last_ns);
    if (measured.empty()) {
      ASSERT_EQ(part.small.packets + part.large.packets + part.last.packets, 0u) << "they were measured";
      ++without_measures_;
      told_by_window_[window] += flow.packets;
      return;
    }
    ASSERT_EQ(measured.size(), kLargeAt + 80);
    check_measure(measured.subspan(kSmallAt, 16), part.small);
    check_measure(measured.subspan(kLargeAt, 80), part.large);
    check_measure(measured.subspan(kLastAt, 24), part.last);
    for (const std::byte one : measured.subspan(kLastAt + 24, kLargeAt - kLastAt - 24)) ASSERT_EQ(one, std::byte{0});
    told_by_window_[window] += flow.packets;
  }

  static void check_measure(std::span<const std::byte> measured, const OrderOf::Row& truth) {
    std::array<std::uint64_t, 10> values{};
    std::memcpy(values.data(), measured.data(), measured.size());
    ASSERT_EQ(values[0], truth.packets);
    ASSERT_EQ(values[1], truth.sum) << "other packets, or in another order";
    for (std::size_t i = 2; i < measured.size() / 8; ++i)
      ASSERT_EQ(values[i], truth.packets == 0 ? 0 : ~std::uint64_t{0}) << "another measure's place";
  }

  WindowLength length_;
  std::vector<std::uint64_t> masks_;  ///< by kStates
  SplitMix64 random_;
  RecordRing ring_;
  SlotRows slots_;
  WindowRows rows_;
  LinkPlace link_{0, 10'000};
  std::array<std::optional<Record>, kSlots> records_;  ///< by slot
  std::uint32_t last_number_ = 0;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::deque<Part>> model_;  ///< by window and record; not told yet
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> states_;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint8_t>> last_;  ///< by record: window and state
  std::map<std::uint64_t, std::uint64_t> by_window_, told_by_window_;
  std::size_t ends_in_a_batch_ = 0, most_parts_ = 0, changes_within_parts_ = 0, without_measures_ = 0;
};

/// A ring that is read at once, and windows of 1000 ns with a packet each 10 ns.
TEST(WindowRows, PacketsThatWereMissedAreOfTheWindowThatEndedSinceOrElseOfTheOpenOne) {
  RecordRing ring(1 << 20);
  SlotRows slots(64, 16);
  WindowRows rows(WindowPlan(WindowLength{WindowLength::Unit::ns, 1000}), 0, slots, ring, /*can_wait=*/false);
  const auto key = [](std::uint32_t) { return FlowKey(); };
  std::map<std::uint64_t, std::uint64_t> missed;
  const auto packet_at = [&](std::uint64_t ns) {
    const RowUpdate packet{static_cast<std::uint32_t>(ns / 10 % 64), false, false,        false,
                           CountWord::packet(100, 114, 0),           ns,    {ns / 10, ns}};
    rows.update({&packet, 1}, {}, key);
  };
  for (std::uint64_t ns = 5000; ns < 8000; ns += 10) {
    packet_at(ns);
    if (ns % 100 == 0) rows.note_missed(ns % 1000 == 0 ? 1 : 10);  // at a window's beginning of the one before
    if (ns % 500 == 490) rows.tell();
  }
  rows.finish({800, 8000});
  ring.drain([&](std::span<const std::byte> bytes) {
    const auto message = read_as<WindowMessage>(bytes);
    if (message.kind == WindowMessage::Kind::end)
      missed[message.window] += read_as<WindowEnd>(bytes.subspan(sizeof message)).totals.missed_packets;
  });
  EXPECT_EQ(missed[5], 1 + 90 + 1) << "the first has none before it";
  EXPECT_EQ(missed[6], 91u);
  EXPECT_EQ(missed[7], 90u);
}

/// A table with four slots for each flow: in each window other slots are used, by as many flows as there may be.
TEST(WindowRows, OneUnreadWindowAndTheOpenOneHaveRoomForAllFlowsThatThereMayBe) {
  constexpr std::uint32_t kMostFlows = 256, kSlotsOfFlow = 4, kAtOnce = 32;
  RecordRing ring(1 << 20);
  SlotRows slots(kSlotsOfFlow * kMostFlows, 16, kMostFlows);
  WindowRows rows(WindowPlan(WindowLength{WindowLength::Unit::ns, 1000}), 0, slots, ring, /*can_wait=*/false);
  Told told;
  std::uint64_t position = 0;
  for (std::uint64_t window = 5; window < 15; ++window) {
    const auto slot_of = [&](std::uint32_t flow) {
      return flow * kSlotsOfFlow + static_cast<std::uint32_t>(window % kSlotsOfFlow);
    };
    for (std::uint32_t flow = 0; flow < kMostFlows; flow += kAtOnce) {
      std::vector<RowUpdate> packets;
      for (std::uint32_t i = 0; i < kAtOnce; ++i)
        packets.push_back(packet(slot_of(flow + i), 1000 * window + flow, 1000 * window + flow, position++));
      rows.update(packets, {}, key_of_slot);
    }
    told.read(ring);
    for (std::uint32_t flow = 0; flow < kMostFlows; ++flow) rows.flow_ended(slot_of(flow), /*evicted=*/false);
    rows.tell();
  }
  rows.finish({position, 15'000});
  told.read(ring);
  for (std::uint64_t window = 5; window < 15; ++window) EXPECT_EQ(told.told_of(window), kMostFlows) << window;
}

TEST(WindowRows, MeasuresSeeEachPacketOnceInOrderInItsWindowAndItsFlowsState) {
  for (const WindowLength length :
       {WindowLength{WindowLength::Unit::ns, 500}, WindowLength{WindowLength::Unit::packets, 77}})
    for (const std::vector<std::uint64_t>& masks :
         {std::vector<std::uint64_t>{7, 7, 7, 7}, std::vector<std::uint64_t>{1, 6, 0, 5}}) {
      SCOPED_TRACE(length.unit == WindowLength::Unit::ns ? "windows of time" : "windows of packets");
      Measured flows(length, masks, 11);
      ASSERT_NO_FATAL_FAILURE(flows.run(15'000));
      EXPECT_GT(flows.windows(), 100u);
      EXPECT_GT(flows.ends_in_a_batch(), 1000u);
      EXPECT_GE(flows.most_parts(), 4u) << "of a record in one window";
      EXPECT_EQ(flows.without_measures() > 100, masks[2] == 0) << "their rows' measures mean nothing";
      EXPECT_GT(flows.changes_within_parts(), 100u) << "of the state whose measures see it";
    }
}

}  // namespace
}  // namespace parshall
