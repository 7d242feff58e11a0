// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "pipeline/measure/windows/window_rows.hpp"

namespace parshall {
namespace {

constexpr std::size_t kUnreadSlots = 48, kUnreadStates = 3;
constexpr std::uint64_t kUnreadWindowNs = 10'000'000;

/// Which record is in each slot: its number is its key.
std::array<std::uint32_t, kUnreadSlots> g_unread_records;
FlowKey unread_key(std::uint32_t slot) {
  FlowKey key;
  key.ip_version = 4;
  std::memcpy(key.address.data(), &g_unread_records[slot], sizeof g_unread_records[slot]);
  return key;
}

/// What was told of a window and state, one by one and together.
struct StateSums {
  std::uint64_t packets = 0, ip_bytes = 0, flows = 0, new_flows = 0;
  friend bool operator==(const StateSums&, const StateSums&) = default;
};
struct ToldTogether {
  std::map<std::pair<std::uint64_t, std::uint64_t>, StateSums> by_state;
  std::map<std::uint64_t, std::uint64_t> flows;  ///< of all states, each once
  std::map<std::uint64_t, std::array<std::uint64_t, FlowWeight::kClasses>> unread;
  std::map<std::uint64_t, std::map<std::uint32_t, std::uint8_t>> weights;  ///< of records told one by one
  std::uint64_t ends = 0;

  void read(RecordRing& ring) {
    ring.drain([this](std::span<const std::byte> bytes) {
      const auto message = read_as<WindowMessage>(bytes);
      const auto take_flow = [&](const FlowWindow& flow) {
        StateSums& sums = by_state[{message.window, flow.state}];
        sums.packets += flow.packets;
        sums.ip_bytes += flow.ip_bytes;
        sums.flows += flow.first_in(std::uint64_t{1} << flow.state);
        sums.new_flows += flow.starts;
        flows[message.window] += flow.first_in(~std::uint64_t{0});
        std::uint32_t record;
        std::memcpy(&record, flow.key.address.data(), sizeof record);
        weights[message.window].try_emplace(record, flow.weight);
      };
      if (take_rows(bytes, take_flow)) return;
      if (message.kind == WindowMessage::Kind::unread) {
        const auto unread_message = read_as<UnreadMessage>(bytes);
        const UnreadFlows& of = unread_message.flows;
        StateSums& sums = by_state[{message.window, unread_message.state}];
        sums.packets += of.packets;
        sums.ip_bytes += of.ip_bytes;
        sums.flows += of.all_flows();
        sums.new_flows += of.new_flows;
        flows[message.window] += of.all_flows();
        for (std::size_t weight = 0; weight < of.flows.size(); ++weight)
          unread[message.window][weight] += of.flows[weight];
      } else {
        const WindowTotals totals = read_as<WindowEnd>(bytes.subspan(sizeof message)).totals;
        EXPECT_EQ(totals.unlisted_packets, 0u);
        ++ends;
      }
    });
  }
};

WindowPlan unread_plan(std::vector<std::uint64_t> read) {
  WindowPlan plan({WindowLength::Unit::ns, kUnreadWindowNs});
  plan.by_state = std::vector<std::uint64_t>(kUnreadStates);
  plan.read = std::move(read);
  return plan;
}

/// Flows that come, go, move, change their states, are reduced and restored: whoever counts some of them together finds
/// what he finds who looks at each.
TEST(UnreadFlows, AreWhatTheirRowsWouldSayOverAnyCourse) {
  constexpr std::uint8_t kLight = 1;
  constexpr std::size_t kWaitingRows = std::size_t{1} << 16;
  std::uint64_t unread = 0, heavy = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SplitMix64 random(seed);
    RecordRing split_ring(1 << 20), whole_ring(1 << 20);
    SlotRows split_slots(kUnreadSlots, 16), whole_slots(kUnreadSlots, 16);
    WindowRows split(unread_plan({0b001, 0b000, 0b101}), 0, split_slots, split_ring, /*can_wait=*/false, kWaitingRows);
    WindowRows whole(unread_plan({0b111, 0b111, 0b111}), 0, whole_slots, whole_ring, /*can_wait=*/false, kWaitingRows);
    WindowRows* const both[] = {&split, &whole};
    ToldTogether told, truth;
    struct OneFlow {
      bool lives = false;
      std::uint8_t weight = 0;
      std::uint8_t state = 0, effective = 0, before = 0;
    };
    std::array<OneFlow, kUnreadSlots> flows;
    std::set<std::uint64_t> with_changes;  // windows in which a record changed its own state
    std::uint32_t records = 0;
    std::uint64_t now_ns = 5 * kUnreadWindowNs, position = 0;
    for (int step = 0; step < 600; ++step) {
      std::vector<RowUpdate> packets;
      std::vector<PacketFinding> findings;
      const std::size_t count = 1 + random.below(kStatBatch);
      const std::uint64_t gap_ns = random.below(40) == 0 ? 2 * kUnreadWindowNs : 20'000;
      for (std::size_t i = 0; i < count; ++i) {
        now_ns += random.below(gap_ns / count + 1);
        const auto slot =
            static_cast<std::uint32_t>(random.below(4) == 0 ? random.below(kUnreadSlots) : random.below(4));
        OneFlow& flow = flows[slot];
        const bool starts = !flow.lives;
        if (starts) {
          g_unread_records[slot] = ++records;
          flow = {true, 0, static_cast<std::uint8_t>(random.below(kUnreadStates)), 0, 0};
          flow.effective = flow.before = flow.state;
        }
        if (random.below(8) == 0) flow.weight = static_cast<std::uint8_t>(random.below(FlowWeight::kClasses));
        flow.before = flow.effective;
        if (random.below(20) == 0) flow.effective = random.below(2) == 0 ? flow.state : kLight;
        if (random.below(200) == 0) {
          flow.state = static_cast<std::uint8_t>(random.below(kUnreadStates));
          flow.effective = flow.before = random.below(2) == 0 ? flow.state : kLight;
          with_changes.insert(now_ns / kUnreadWindowNs);
        }
        packets.push_back(
            {slot, starts, false, false, CountWord::packet(100 + slot, 114 + slot, 0), now_ns, {position++, now_ns}});
        PacketFinding finding;
        finding.state = flow.state;
        finding.effective_state = flow.effective;
        finding.weight = flow.weight;
        finding.effective_before = starts ? flow.effective : flow.before;
        findings.push_back(finding);
      }
      for (WindowRows* rows : both) rows->update(packets, findings, unread_key);
      const auto slot = static_cast<std::uint32_t>(random.below(kUnreadSlots));
      if (const std::uint64_t what = random.below(4); what == 0 && flows[slot].lives) {
        for (WindowRows* rows : both) rows->flow_ended(slot);
        flows[slot] = {};
      } else if (const auto to = static_cast<std::uint32_t>(random.below(kUnreadSlots));
                 what == 1 && flows[slot].lives && !flows[to].lives) {
        for (WindowRows* rows : both) rows->flow_moved(slot, to);
        g_unread_records[to] = g_unread_records[slot];
        flows[to] = std::exchange(flows[slot], {});
      }
      for (WindowRows* rows : both) rows->tell();
      told.read(split_ring);
      truth.read(whole_ring);
    }
    for (WindowRows* rows : both) rows->finish({position, now_ns});
    told.read(split_ring);
    truth.read(whole_ring);
    ASSERT_EQ(told.ends, truth.ends);
    for (const auto& [at, sums] : truth.by_state)
      ASSERT_EQ(told.by_state[at], sums) << "seed " << seed << ", window " << at.first << ", state " << at.second;
    ASSERT_EQ(told.by_state.size(), truth.by_state.size());
    ASSERT_EQ(told.flows, truth.flows) << seed;
    for (const auto& [window, of] : truth.weights) {
      if (with_changes.contains(window)) continue;
      std::array<std::uint64_t, FlowWeight::kClasses> weights{};
      for (const auto& [record, weight] : of)
        if (const auto one = told.weights[window].find(record); one == told.weights[window].end())
          ++weights[weight];
        else
          ASSERT_EQ(one->second, weight) << "seed " << seed << ", window " << window;
      ASSERT_EQ(told.unread[window], weights) << "seed " << seed << ", window " << window;
      for (std::size_t weight = 0; weight < weights.size(); ++weight) {
        unread += weights[weight];
        heavy += weight > 1 ? weights[weight] : 0;
      }
    }
  }
  EXPECT_GT(unread, 1000u);
  EXPECT_GT(heavy, 100u);
}

}  // namespace
}  // namespace parshall
