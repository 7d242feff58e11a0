// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/flow_weight.hpp"
#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/flow_keys.hpp"
#include "pipeline/flow/timeouts.hpp"
#include "pipeline/measure/finding.hpp"
#include "pipeline/measure/flow_rows.hpp"
#include "pipeline/measure/slot_rows.hpp"
#include "pipeline/measure/states/flow_states.hpp"
#include "pipeline/measure/tcp/connections.hpp"

namespace parshall {

/// Determines, for each packet, what tasks need beyond its counts, from the history of its flow or connection. It
/// keeps, by slot, the flow's monitoring state (if there are several) and a row with the rest of the history. Flows in
/// states that need no findings do not touch that row, unless timeouts end connections.
///
/// A connection is forgotten once both of its flows are over by the timeouts at the time of the next packet, whether
/// or not their records have ended. So findings depend on the packets alone, and not on when the table is swept.
///
/// Shape: 16 bytes of states and a row of 16; TcpConnections for SlotRows::most_used() flows, if TCP is needed. Nothing
///        is allocated after the constructor.
class FlowTracker {
 public:
  /// `by_state` says what to determine for flows of each monitoring state. `states` is null if there is only one.
  /// `timeouts` are those of a flow, or none if both directions share a record.
  FlowTracker(std::vector<FindingNeeds> by_state, FlowStates* states, SlotRows& slots, std::uint64_t seed,
              Timeouts timeouts = {});

  /// Returns the bytes that it keeps in SlotRows, and in memory of its own.
  static std::size_t slot_bytes(bool has_states) noexcept { return sizeof(Track) + (has_states ? sizeof(Stay) : 0); }
  static std::size_t memory_bytes(std::span<const FindingNeeds> by_state, std::size_t flows) noexcept;

  void populate() noexcept {
    if (connections_) connections_->populate();
  }

  /// Prefetches the connections of packets, whose SlotRows have been prefetched. `tcp` has one entry per packet. A flow
  /// whose state does not follow TCP touches none, unless it is new, since its state is found later.
  void prefetch_connections(std::span<const RowUpdate> packets, const TcpFacts* tcp, FlowKeys key_of) const noexcept {
    if (!connections_) return;
    for (std::size_t i = 0; i < packets.size(); ++i) {
      const std::uint32_t slot = packets[i].slot;
      if (states_ != nullptr && !packets[i].starts_flow && !by_state_[stays_[slot].effective_state].tcp) continue;
      const Track& track = tracks_[slot];
      if (track.has_connection()) [[likely]]
        connections_->prefetch(track.connection());
      else if (tcp[i].present)
        connections_->prefetch_open(key_of(slot));
    }
  }

  /// Finds the states of at most kStatBatch packets, in arrival order. For states without needs, the rest of `findings`
  /// stays unspecified. `key_of(slot)` returns the slot's flow.
  void find_states(std::span<const RowUpdate> packets, std::span<PacketFinding> findings, FlowKeys key_of) noexcept {
    for (std::size_t i = 0; i < packets.size(); ++i) find_state(packets[i], findings[i], key_of);
  }

  /// Determines the rest for the same packets, after find_states(). `tcp` has one entry per packet, or is empty.
  void find(std::span<const RowUpdate> packets, std::span<const TcpFacts> tcp, std::span<PacketFinding> findings,
            FlowKeys key_of) noexcept {
    // Lists the packets that need work first, since a branch on this would be unpredictable.
    std::array<std::uint8_t, kStatBatch> asking, followed;
    std::array<ConnectionEnd, kStatBatch> ends;
    std::uint64_t restarts = 0;  // bit f: the connection of the packet followed[f] begins again
    static_assert(kStatBatch <= 64);
    std::size_t asks = 0, follows = 0;
    for (std::size_t i = 0; i < packets.size(); ++i) {
      findings[i].is_tcp = false;
      asking[asks] = static_cast<std::uint8_t>(i);
      const bool any = by_state_[findings[i].effective_state].any();
      asks += any;
      if (notes_all_ && !any) tracks_[packets[i].slot].note(packets[i], /*needs_iat=*/false);
    }
    for (const std::uint8_t i : std::span(asking).first(asks)) {
      const bool restart = prepare(packets[i], tcp.empty() ? nullptr : &tcp[i], findings[i], key_of);
      restarts |= std::uint64_t{restart} << follows;
      followed[follows] = i;
      ends[follows] = tracks_[packets[i].slot].connection();
      follows += findings[i].is_tcp;
    }
    std::array<std::uint8_t, kStatBatch> timed;
    std::size_t rtts = 0;
    for (std::size_t f = 0; f < follows; ++f) {
      const std::uint8_t i = followed[f];
      if ((restarts >> f & 1) != 0) [[unlikely]]
        connections_->restart(ends[f].place);
      (*connections_)[ends[f].place].analyse(ends[f].from, tcp[i], packets[i].counts.tcp_flags(), packets[i].time_ns,
                                             connections_->segments(), findings[i].tcp);
      timed[rtts] = static_cast<std::uint8_t>(f);
      rtts += findings[i].has_round_trip();
    }
    if (keeps_rtts_)
      for (const std::uint8_t f : std::span(timed).first(rtts)) keep_rtt(ends[f], findings[followed[f]]);
  }

  void flow_ended(std::uint32_t slot) noexcept {
    Track& track = tracks_[slot];
    if (track.has_connection()) connections_->close(track.connection());
    track = {};
  }
  void flow_moved(std::uint32_t from, std::uint32_t to) noexcept {
    tracks_[to] = std::exchange(tracks_[from], {});
    if (tracks_[to].has_connection()) connections_->move(tracks_[to].connection(), to);
    if (states_ != nullptr) stays_[to] = stays_[from];
  }

  /// Returns the packets counted by the flow's state, if there are several, and weight (FlowWeight).
  std::span<const std::uint64_t> weighed_packets() const noexcept { return weighed_packets_; }
  std::uint64_t state_packets(std::size_t state) const noexcept {
    const auto weighed = weighed_packets().subspan(state * FlowWeight::kClasses, FlowWeight::kClasses);
    return std::accumulate(weighed.begin(), weighed.end(), std::uint64_t{0});
  }
  /// Returns the packets counted by effective state.
  std::span<const std::uint64_t> effective_packets() const noexcept { return effective_packets_; }
  std::span<const std::uint64_t> kept_packets() const noexcept { return kept_packets_; }  ///< flows not reduced
  std::uint64_t new_flows() const noexcept { return new_flows_; }

  /// Returns how many segments could not be stored until their acknowledgement.
  std::uint64_t dropped_segments() const noexcept { return connections_ ? connections_->segments().dropped() : 0; }

 private:
  static constexpr std::uint16_t kMostPackets = 0xFFFF;

  /// State of a flow, with all that every packet needs; four fit into a cache line.
  struct alignas(16) Stay {
    std::uint32_t states_version = 0;  ///< FlowStates::version() it is valid for
    std::uint32_t state_version = 0;   ///< FlowStates::state_version() it is valid for
    std::uint16_t hash = 0;            ///< FlowStates::hash_of()
    std::uint16_t packets = 0;         ///< packets since the flow was weighed, saturating
    std::uint8_t state = 0, effective_state = 0;
    std::uint8_t weight = 0, weighing = 0;  ///< FlowStates::weighing() that the weight is valid for
  };
  static_assert(sizeof(Stay) == 16);

  struct alignas(16) Track {
    static constexpr std::uint32_t kClosed = std::uint32_t{1} << 31;  ///< the record had a FIN or RST
    static constexpr std::uint32_t kGap = std::uint32_t{1} << 30;     ///< the next inter-arrival time is unknown
    static constexpr std::uint32_t kEnd = kGap - 1;                   ///< the connection

    std::uint64_t after_last_ns = 0;  ///< time of the last packet + 1; 0: none
    std::uint32_t end_and_bits = 0;   ///< ConnectionEnd as 2 * place + from + 1, or 0 if there is none; and bits above
    std::uint32_t rules = 0;          ///< FlowStates::rules_for(), if findings may change the state later

    bool has_connection() const noexcept { return (end_and_bits & kEnd) != 0; }
    ConnectionEnd connection() const noexcept {
      const std::uint32_t end = (end_and_bits & kEnd) - 1;
      return {end / 2, static_cast<std::uint8_t>(end % 2)};
    }
    void set_connection(ConnectionEnd end) noexcept {
      end_and_bits = (end_and_bits & ~kEnd) | (end.place == kNowhere ? 0 : 2 * end.place + end.from + 1);
    }

    /// Notes a packet, in a state that needs inter-arrival times, or in one that does not.
    void note(const RowUpdate& packet, bool needs_iat) noexcept {
      constexpr std::uint16_t kFin = 1, kRst = 4;
      const std::uint32_t closes = (packet.counts.tcp_flags() & (kFin | kRst)) != 0 ? kClosed : 0;
      const std::uint32_t stays = packet.starts_flow ? kEnd : kEnd | kClosed;
      end_and_bits = (end_and_bits & stays) | closes | (needs_iat ? 0 : kGap);
      after_last_ns = packet.time_ns + 1;
    }
  };
  static_assert(sizeof(Track) == 16);

  [[gnu::always_inline]] void find_state(const RowUpdate& packet, PacketFinding& finding, FlowKeys key_of) noexcept {
    new_flows_ += packet.starts_flow;
    if (states_ == nullptr) {
      finding.state = finding.effective_state = finding.effective_before = finding.weight = 0;
      return;
    }
    Stay& stay = stays_[packet.slot];
    const bool begins = packet.starts_flow && !packet.is_split;
    if (begins) [[unlikely]]
      begin(stay, tracks_[packet.slot], key_of(packet.slot));
    const std::uint8_t state_before = stay.state;
    std::uint8_t effective_before = stay.effective_state;
    if (stay.states_version != states_->version()) [[unlikely]]
      choose_states(stay, packet.slot, key_of);
    ++weighed_packets_[stay.state * FlowWeight::kClasses + stay.weight];
    stay.packets = static_cast<std::uint16_t>(stay.packets + (stay.packets != kMostPackets));
    ++effective_packets_[stay.effective_state];
    if (begins || stay.state != state_before) effective_before = stay.effective_state;  // a new state
    kept_packets_[stay.state] += stay.state == stay.effective_state;
    finding.state = stay.state;
    finding.effective_state = stay.effective_state;
    finding.effective_before = effective_before;
    finding.weight = stay.weight;
  }

  /// Does everything but the analysis of the packet's connection, whose segments it prefetches. Returns whether the
  /// connection must be restarted before that.
  [[gnu::always_inline]] bool prepare(const RowUpdate& packet, const TcpFacts* tcp, PacketFinding& finding,
                                      FlowKeys key_of) noexcept {
    Track& track = tracks_[packet.slot];
    const FindingNeeds needs = by_state_[finding.effective_state];
    finding.tcp = {};
    finding.payload_bytes = 0;
    finding.iat_ns = PacketFinding::kNone;
    if (needs.iat && track.after_last_ns != 0 && (track.end_and_bits & Track::kGap) == 0)
      finding.iat_ns = packet.time_ns >= track.after_last_ns ? packet.time_ns - track.after_last_ns + 1 : 0;
    track.note(packet, needs.iat);
    if (!needs.tcp || tcp == nullptr || !tcp->present) return false;
    bool restarts = false;
    if (!track.has_connection()) [[unlikely]]
      restarts = open(track, packet, key_of(packet.slot));
    if (!track.has_connection()) [[unlikely]]
      return false;
    finding.is_tcp = true;
    finding.payload_bytes = tcp->payload_bytes;
    connections_->prefetch_segments(track.connection());
    return restarts;
  }

  /// Opens or joins the connection of a packet's flow. Returns true if its other flow is over.
  bool open(Track& track, const RowUpdate& packet, const FlowKey& flow) noexcept;
  /// Returns whether a flow that has had no packet since its last one is over at that time.
  bool is_over(const Track& track, std::uint64_t now_ns) const noexcept;
  void begin(Stay& stay, Track& track, const FlowKey& flow) noexcept;
  /// Updates the states. The key is in another cache line, so it is read only if findings changed.
  void choose_states(Stay& stay, std::uint32_t slot, FlowKeys key_of) noexcept {
    if (stay.state_version != states_->state_version()) {
      stay.state = states_->state_of(key_of(slot), tracks_[slot].rules);
      stay.state_version = states_->state_version();
    }
    stay.states_version = states_->version();
    if (stay.weighing != states_->weighing()) weigh(stay);
    const std::uint8_t effective = states_->effective_state(stay.state, stay.hash, stay.weight);
    if (effective != stay.effective_state) change_effective_state(stay, tracks_[slot], effective);
  }
  /// Updates the weight. A flow becomes lighter only if it falls by two classes or more, and then by one at a time.
  /// This avoids oscillation, in which the history would be lost.
  void weigh(Stay& stay) noexcept {
    const int now = FlowWeight::of(stay.packets), before = stay.weight;
    const int passed = static_cast<std::uint8_t>(states_->weighing() - stay.weighing);  // only one of them had packets
    const int lighter = passed > 1 ? passed : now < before - 1 ? 1 : 0;
    stay.weight = static_cast<std::uint8_t>(std::max({0, now, before - lighter}));
    stay.packets = 0;
    stay.weighing = states_->weighing();
  }
  void change_effective_state(Stay& stay, Track& track, std::uint8_t state) noexcept;
  /// Adds the packet's round-trip time to its flow's history.
  void keep_rtt(ConnectionEnd end, PacketFinding& finding) noexcept {
    RttHistory& history = (*connections_)[end.place].round_trips(end.from);
    finding.rtts_before = history;
    history.add(finding.tcp.rtt_ns);
  }

  std::vector<FindingNeeds> by_state_;
  std::vector<std::uint64_t> weighed_packets_, effective_packets_, kept_packets_;
  std::uint64_t new_flows_ = 0;
  FlowStates* states_;
  Timeouts timeouts_;
  SlotColumn<Stay> stays_;  ///< none if there is one state
  SlotColumn<Track> tracks_;
  std::unique_ptr<TcpConnections> connections_;
  bool keeps_rtts_;
  bool notes_all_;  ///< flows in all states are noted, so that open() knows which are over
};

}  // namespace parshall
