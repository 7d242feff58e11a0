// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/both_ways.hpp"
#include "pipeline/flow/flow_keys.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/measure/flow_rows.hpp"

namespace parshall {

/// Separates the two directions of each connection, if flows are biflows (RFC 5103).
///
/// The table has one slot for a connection, under a key common to both directions, and counts them together. This class
/// keeps the counts of one direction by slot, so that the rest is the other's, and which direction began. All other
/// measures have one row per direction: row_of().
///
/// Shape:  64 bytes for each slot, in an array beside the table; unused slots are never touched.
/// Cost:   one more cache line per packet.
/// Source: RFC 5103, section 5 (how the initiator is determined).
class Biflows {
 public:
  explicit Biflows(std::size_t slots) : states_(slots) {}

  static std::size_t memory_bytes(std::size_t slots) noexcept { return slots * sizeof(State); }
  void populate() noexcept { states_.populate(); }

  /// Returns the rows of the measure stage for this many slots.
  static constexpr std::size_t rows_for(std::size_t slots) noexcept { return 2 * slots; }
  static constexpr std::uint32_t row_of(std::uint32_t slot, bool is_back) noexcept {
    return 2 * slot + static_cast<std::uint32_t>(is_back);
  }

  static constexpr std::uint32_t slot_of(std::uint32_t row) noexcept { return row / 2; }
  static constexpr bool is_back(std::uint32_t row) noexcept { return row % 2 != 0; }
  static constexpr std::uint32_t other_way(std::uint32_t row) noexcept { return row ^ 1; }

  void prefetch(std::uint32_t row) const noexcept { prefetch_line(&states_[slot_of(row)]); }

  /// Counts a packet. On entry the packet says what it begins in its slot, afterwards what it begins in its row.
  /// `key_of(row)` returns the flow of a row.
  void add(RowUpdate& packet, FlowKeys key_of) noexcept {
    State& state = states_[slot_of(packet.slot)];
    const bool back = is_back(packet.slot);
    if (packet.starts_flow) [[unlikely]]
      packet.is_split ? begin_record(state) : begin(state, packet.is_late);
    state.flags[back] |= packet.counts.tcp_flags();
    state.all_flags[back] |= packet.counts.tcp_flags();
    const std::uint64_t counted = back ? ~std::uint64_t{0} : 0;  // the direction of the next packet is unpredictable,
                                                                 // so avoid a branch
    state.packets += packet.counts.packets() & counted;
    state.ip_bytes += packet.counts.ip_bytes() & counted;
    state.wire_bytes += packet.wire_bytes() & counted;
    packet.starts_flow = packet.is_split = packet.is_late = false;
    if (state.begins[back]) [[unlikely]]
      begin_row(state, packet, key_of);
  }

  /// Returns the row of the initiator's direction.
  std::uint32_t source_row(std::uint32_t slot) const noexcept { return row_of(slot, states_[slot].source); }

  /// Returns whether the direction of a row had a packet.
  bool was_seen(std::uint32_t row) const noexcept { return states_[slot_of(row)].seen[is_back(row)]; }

  /// Divides the counts of both directions, as the table has them, under the initiator's key.
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

  /// Returns true if both directions had a FIN, or one a RST, in this record or before.
  bool is_closed(std::uint32_t slot) const noexcept {
    const State& state = states_[slot];
    const auto& flags = state.all_flags;
    return ((flags[0] | flags[1]) & kRst) != 0 || (flags[0] & flags[1] & kFin) != 0;
  }

  void move(std::uint32_t from, std::uint32_t to) noexcept { states_[to] = states_[from]; }

 private:
  static constexpr std::uint16_t kFin = 1, kSyn = 2, kRst = 4, kAck = 16;
  static constexpr std::uint8_t kTcp = 6;

  struct alignas(64) State {
    std::uint64_t packets, ip_bytes, wire_bytes;  ///< counts of this record, from the key's second end to its first
    std::uint64_t began_ns;                       ///< time of the connection's first packet
    std::uint16_t flags[2], all_flags[2];         ///< by direction: of this record, and of the connection
    bool begins[2];                               ///< the next packet of the direction begins something in its row
    bool seen[2];                                 ///< the direction had a packet
    bool source;                                  ///< the initiator's direction
    bool began_by_syn;                            ///< the first packet was a SYN without ACK
    bool knows_source;                            ///< the initiator is known, not guessed
    bool is_decided;                              ///< a record has reported the initiator
    bool is_late;                                 ///< packets may have been kept out before
  };
  static_assert(sizeof(State) == 64);

  static void begin(State& state, bool is_late) noexcept {
    state = {};
    state.begins[0] = state.begins[1] = true;
    state.is_late = is_late;
  }

  static void begin_record(State& state) noexcept {
    state.packets = state.ip_bytes = state.wire_bytes = 0;
    state.flags[0] = state.flags[1] = 0;
    state.begins[0] = state.begins[1] = true;
    state.is_decided = true;
  }

  [[gnu::noinline]] static void begin_row(State& state, RowUpdate& packet, FlowKeys key_of) noexcept {
    const bool back = is_back(packet.slot);
    state.begins[back] = false;
    packet.starts_flow = true;
    packet.is_split = state.seen[back];
    packet.is_late = state.is_late && !packet.is_split;
    if (!std::exchange(state.seen[back], true)) tell_initiator(state, packet, back, key_of);
  }

  /// Determines the initiator. A SYN without ACK comes from it. Otherwise it is the direction that came first in the
  /// input: a guess if TCP began before, or if times contradict the order.
  static void tell_initiator(State& state, const RowUpdate& packet, bool back, FlowKeys key_of) noexcept {
    const bool is_syn = (packet.counts.tcp_flags() & (kSyn | kAck)) == kSyn;
    if (!state.seen[!back]) {
      state.source = back;
      state.began_ns = packet.time_ns;
      state.began_by_syn = state.knows_source = is_syn;
    } else if (is_syn && !state.began_by_syn && !state.is_decided) {
      state.source = back;
      state.knows_source = true;
    } else if (key_of(packet.slot).protocol != kTcp) {
      state.knows_source = packet.time_ns > state.began_ns;
    }
  }

  HugeBuffer<State> states_;
};

}  // namespace parshall
