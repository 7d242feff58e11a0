// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/both_ways.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/flow/table.hpp"

namespace parshall {

/// Tells the two directions of each connection apart, where flows are biflows (RFC 5103).
///
/// The table has one slot for a connection, under the key that both directions share, and counts them together. This
/// keeps, by slot, what one of them had, so that the rest is the other's, and which of them began. Each direction has a
/// row of its own in the measure stage: row_of().
///
/// Shape:  64 bytes for each slot, in an array beside the table; unused slots are never touched.
/// Cost:   one more cache line per packet.
/// Source: RFC 5103, section 5 (how the initiator is told).
class Biflows {
 public:
  explicit Biflows(std::size_t slots) : states_(slots) {}

  static std::size_t memory_bytes(std::size_t slots) noexcept { return slots * sizeof(State); }
  void populate() noexcept { states_.populate(); }

  /// Rows of the measure stage for so many slots.
  static constexpr std::size_t rows_for(std::size_t slots) noexcept { return 2 * slots; }
  static constexpr std::uint32_t row_of(std::uint32_t slot, bool is_back) noexcept {
    return 2 * slot + static_cast<std::uint32_t>(is_back);
  }

  static constexpr std::uint32_t slot_of(std::uint32_t row) noexcept { return row / 2; }
  static constexpr bool is_back(std::uint32_t row) noexcept { return row % 2 != 0; }

  void prefetch(std::uint32_t slot) const noexcept { prefetch_line(&states_[slot]); }

  /// Counts a packet that the table has counted in that slot. `is_back`: it goes from the key's second end to its
  /// first. Returns its direction's row, with what the packet begins there.
  SlotRef add(SlotRef at, const PacketFacts& facts, bool is_back) noexcept {
    State& state = states_[at.slot()];
    if (at.is_new()) [[unlikely]]
      at.is_split() ? begin_record(state) : begin(state, at.is_late());
    state.flags[is_back] |= facts.counts.tcp_flags();
    if (is_back) {
      state.packets += facts.counts.packets();
      state.ip_bytes += facts.counts.ip_bytes();
      state.wire_bytes += facts.wire_bytes();
    }
    const std::uint32_t row = row_of(at.slot(), is_back);
    if (!state.seen[is_back]) [[unlikely]]
      return begin_direction(state, facts, is_back, row);
    if (state.splits[is_back]) [[unlikely]] {
      state.splits[is_back] = false;
      return SlotRef::split(row);
    }
    return SlotRef::known(row, /*is_first=*/true);
  }

  /// The row of the initiator's direction.
  std::uint32_t source_row(std::uint32_t slot) const noexcept { return row_of(slot, states_[slot].source); }

  /// What the table has of both directions becomes what each had, under the initiator's key.
  void divide(FlowRecord& record, std::uint32_t slot) const noexcept {
    const State& state = states_[slot];
    record.reverse_packets = state.packets;
    record.reverse_ip_bytes = state.ip_bytes;
    record.reverse_wire_bytes = state.wire_bytes;
    if (state.source) {
      record.key = opposite(record.key);
      record.reverse_packets = record.packets - state.packets;
      record.reverse_ip_bytes = record.ip_bytes - state.ip_bytes;
      record.reverse_wire_bytes = record.wire_bytes - state.wire_bytes;
    }
    record.packets -= record.reverse_packets;
    record.ip_bytes -= record.reverse_ip_bytes;
    record.wire_bytes -= record.reverse_wire_bytes;
    record.tcp_flags = state.flags[state.source];
    record.reverse_tcp_flags = state.flags[!state.source];
    record.knows_initiator = state.knows_source;
  }

  /// Whether both directions had a FIN, or one a RST.
  bool is_closed(std::uint32_t slot) const noexcept {
    const State& state = states_[slot];
    return ((state.flags[0] | state.flags[1]) & kRst) != 0 || (state.flags[0] & state.flags[1] & kFin) != 0;
  }

  void move(std::uint32_t from, std::uint32_t to) noexcept { states_[to] = states_[from]; }

 private:
  static constexpr std::uint16_t kFin = 1, kSyn = 2, kRst = 4, kAck = 16;
  static constexpr std::uint8_t kTcp = 6;

  struct alignas(64) State {
    std::uint64_t packets, ip_bytes, wire_bytes;  ///< of this record, from the key's second end to its first
    std::uint64_t began_ns;                       ///< time of the connection's first packet
    std::uint16_t flags[2];                       ///< of this record, by direction
    bool seen[2];                                 ///< whether the direction had a packet
    bool splits[2];     ///< its next packet is its first since an active timeout ended a record
    bool source;        ///< the initiator's direction
    bool began_by_syn;  ///< the first packet was a SYN without ACK
    bool knows_source;  ///< it is no guess
    bool is_decided;    ///< a record has told who began
    bool is_late;       ///< packets may have been kept out before
  };
  static_assert(sizeof(State) == 64);

  static void begin(State& state, bool is_late) noexcept {
    state = {};
    state.is_late = is_late;
  }

  static void begin_record(State& state) noexcept {
    state.packets = state.ip_bytes = state.wire_bytes = 0;
    state.flags[0] = state.flags[1] = 0;
    state.splits[0] = state.seen[0];
    state.splits[1] = state.seen[1];
    state.is_decided = true;
  }

  /// A SYN without ACK tells the initiator; else it is who came first in the input, which is a guess where TCP began
  /// before, or where times do not say the same.
  [[gnu::noinline]] static SlotRef begin_direction(State& state, const PacketFacts& facts, bool is_back,
                                                   std::uint32_t row) noexcept {
    const bool is_syn = facts.key.protocol == kTcp && (facts.counts.tcp_flags() & (kSyn | kAck)) == kSyn;
    state.seen[is_back] = true;
    if (!state.seen[!is_back]) {
      state.source = is_back;
      state.began_ns = facts.time_ns;
      state.began_by_syn = state.knows_source = is_syn;
    } else if (is_syn && !state.began_by_syn && !state.is_decided) {
      state.source = is_back;
      state.knows_source = true;
    } else if (facts.key.protocol != kTcp) {
      state.knows_source = facts.time_ns > state.began_ns;
    }
    return state.is_late ? SlotRef::late(row) : SlotRef(row, true);
  }

  HugeBuffer<State> states_;
};

}  // namespace parshall
