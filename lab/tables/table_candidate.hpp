// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <vector>

#include "base/prefetch.hpp"
#include "lab/tables/candidate.hpp"
#include "lab/tables/rolling.hpp"
#include "lab/tables/tasks.hpp"
#include "pipeline/flow/table.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {

/// For a task that only needs what a flow table keeps.
struct NoRows {};

/// A flow table of the monitor with everything it keeps for a flow: packets, bytes, flags and times. Rows of TaskValue
/// are addressed by its slots, like the monitor's statistics.
template <FlowTable Table, std::size_t KeyBytes, class Row = NoRows>
class TableCandidate final : public Candidate, private FlowSink {
 public:
  TableCandidate(std::size_t entries, std::uint64_t seed, TaskTally tally)
      : hasher_{KeyedHash(seed)}, table_(entries, {}, *this), tally_(tally) {
    if constexpr (kRows) rows_.resize(table_.slots());
  }

  void run(std::span<const std::uint32_t> flows) noexcept override {
    const LabHasher hasher = hasher_;
    const auto prefetch = table_.prefetcher();
    rolling_.run(
        flows.size(),
        [&](std::size_t i, PacketFacts& facts) {
          facts_of(flows[i], hasher, facts);
          prefetch(facts.hash);
        },
        [](const PacketFacts&) {}, Update{this});
  }
  void drain() noexcept override {
    rolling_.drain([](const PacketFacts&) {}, Update{this});
    if constexpr (kRows) row_rolling_.drain([](const RowAsked&) {}, UpdateRows{this});
  }

  /// Reads the flows as a report does, since the table's own lookup would count packets.
  void counts(std::span<std::uint64_t> by_flow) const noexcept override {
    std::ranges::fill(by_flow, 0);
    for_each([&](std::uint32_t flow, std::uint32_t, const FlowRecord& record) {
      if (flow < by_flow.size()) by_flow[flow] += record.packets;
    });
  }
  void reports(std::span<std::uint8_t> by_flow) const noexcept override {
    std::ranges::fill(by_flow, 0);
    if constexpr (kRows)
      for_each([&](std::uint32_t flow, std::uint32_t slot, const FlowRecord&) {
        if (flow < by_flow.size()) by_flow[flow] = rows_[slot].reported();
      });
  }

  static std::size_t memory_bytes(std::size_t entries) noexcept {
    return Table::memory_bytes(entries) + (kRows ? Table::slots_for(entries) * sizeof(Row) : 0);
  }
  std::size_t places() const noexcept override { return table_.slots(); }
  std::size_t size() const noexcept override { return table_.size(); }
  std::uint64_t rejected() const noexcept override { return ended_packets_; }

 private:
  static constexpr bool kRows = !std::is_same_v<Row, NoRows>;

  struct RowAsked {
    SlotRef slot;
    std::uint64_t element;
  };
  struct Update {
    TableCandidate* self;
    [[gnu::always_inline]] void operator()(std::span<const PacketFacts> group) const noexcept {
      self->table_.update(group, self->slots_, Nothing{});
      if constexpr (kRows) self->ask_for_rows(group);
    }
  };
  struct UpdateRows {
    TableCandidate* self;
    void operator()(std::span<const RowAsked> group) const noexcept {
      for (const RowAsked& asked : group) {
        Row& row = self->rows_[asked.slot.slot()];
        if (asked.slot.is_new()) row = Row();
        row.packet(asked.element, self->tally_);
      }
    }
  };

  void ask_for_rows(std::span<const PacketFacts> group) noexcept {
    row_rolling_.run(
        group.size(),
        [&](std::size_t i, RowAsked& asked) {
          prefetch_line(&rows_[slots_[i].slot()]);
          asked = {slots_[i], Row::element(static_cast<std::uint32_t>(group[i].time_ns), sequence_ + i)};
        },
        [](const RowAsked&) {}, UpdateRows{this});
    sequence_ += group.size();
  }

  /// Passes the flow's number as the packet's time, which is constant for a flow.
  static void facts_of(std::uint32_t flow, const LabHasher& hasher, PacketFacts& facts) noexcept {
    const auto key = key_of<KeyBytes>(flow);
    write_flow_key(key, facts.key);
    facts.hash = hasher(key);
    facts.time_ns = kRows ? flow : 0;
    facts.counts = CountWord::narrow(46, 14, 0);
  }

  template <class Visit>
  void for_each(Visit visit) const noexcept {
    for (std::uint32_t slot = 0; slot < table_.slots(); ++slot) {
      if (!table_.occupied(slot)) continue;
      const FlowRecord record = table_.record(slot);
      visit(flow_of(read_flow_key<KeyBytes>(record.key)), slot, record);
    }
  }

  void flow_ended(FlowRecord& record, std::uint32_t, std::size_t) noexcept override {
    ended_packets_ += record.packets;
  }

  LabHasher hasher_;
  Table table_;
  Rolling<PacketFacts> rolling_;
  std::array<SlotRef, kGroup> slots_;
  std::vector<Row> rows_;
  Rolling<RowAsked> row_rolling_;
  TaskTally tally_;
  std::uint64_t sequence_ = 0;
  std::uint64_t ended_packets_ = 0;
};

}  // namespace parshall::lab
