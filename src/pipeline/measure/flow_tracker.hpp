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
#include "pipeline/measure/finding.hpp"
#include "pipeline/measure/flow_rows.hpp"
#include "pipeline/measure/states/flow_states.hpp"
#include "pipeline/measure/tcp/connections.hpp"

namespace parshall {

/// Finds out about each packet what tasks want to know beyond its counts, from what its flow, or its connection, did
/// before: beside the table, by slot, the flow's monitoring state, where there are several, and a row of what else is
/// found out, which flows of states that ask for nothing leave alone.
///
/// Shape: 16 bytes of states, and a row of 64; TcpConnections as large as the table, where TCP is asked for. Nothing is
///        allocated after the constructor.
class FlowTracker {
 public:
  /// `by_state`: what has to be found out about flows of each monitoring state. `states`: null where there is one.
  FlowTracker(std::vector<FindingNeeds> by_state, FlowStates* states, std::size_t slots, std::uint64_t seed);

  static std::size_t memory_bytes(std::span<const FindingNeeds> by_state, bool has_states, std::size_t slots) noexcept;

  void populate() noexcept {
    stays_.populate();
    tracks_.populate();
    if (connections_) connections_->populate();
  }

  void prefetch(std::uint32_t slot) const noexcept {
    if (states_ != nullptr)
      prefetch_line(&stays_[slot]);
    else
      prefetch_line(&tracks_[slot]);
  }

  /// At most kStatBatch packets, in order of arrival: which states they are of. Of flows of states that ask for
  /// nothing, the rest of `findings` says nothing. `key_of(slot)` is the slot's flow.
  void find_states(std::span<const RowUpdate> packets, std::span<PacketFinding> findings, FlowKeys key_of) noexcept {
    for (std::size_t i = 0; i < packets.size(); ++i) find_state(packets[i], findings[i], key_of);
  }

  /// Then the rest, of the same packets. `tcp` is by packet, or empty.
  void find(std::span<const RowUpdate> packets, std::span<const TcpFacts> tcp, std::span<PacketFinding> findings,
            FlowKeys key_of) noexcept {
    // Which packets ask for something follows no pattern that a branch could be told by: so they are listed first.
    std::array<std::uint8_t, kStatBatch> asking, followed;
    std::size_t asks = 0, follows = 0;
    for (std::size_t i = 0; i < packets.size(); ++i) {
      findings[i].is_tcp = false;
      asking[asks] = static_cast<std::uint8_t>(i);
      asks += by_state_[findings[i].effective_state].any();
    }
    for (const std::uint8_t i : std::span(asking).first(asks)) {
      prepare(packets[i], tcp.empty() ? nullptr : &tcp[i], findings[i], key_of);
      followed[follows] = i;
      follows += findings[i].is_tcp;
    }
    for (const std::uint8_t i : std::span(followed).first(follows))
      connections_->prefetch_segments(tracks_[packets[i].slot].connection());
    for (const std::uint8_t i : std::span(followed).first(follows))
      follow(tracks_[packets[i].slot], packets[i], tcp[i], findings[i]);
  }

  void flow_ended(std::uint32_t slot) noexcept {
    Track& track = tracks_[slot];
    if (track.has_connection()) connections_->close(track.connection());
    track = {};
  }
  void flow_moved(std::uint32_t from, std::uint32_t to) noexcept {
    tracks_[to] = std::exchange(tracks_[from], {});
    if (states_ != nullptr) stays_[to] = stays_[from];
  }

  /// By state, where there are any, and weight (FlowWeight): of flows that are in it.
  std::span<const std::uint64_t> weighed_packets() const noexcept { return weighed_packets_; }
  std::uint64_t state_packets(std::size_t state) const noexcept {
    const auto weighed = weighed_packets().subspan(state * FlowWeight::kClasses, FlowWeight::kClasses);
    return std::accumulate(weighed.begin(), weighed.end(), std::uint64_t{0});
  }
  /// By state: of those that have its measures.
  std::span<const std::uint64_t> effective_packets() const noexcept { return effective_packets_; }
  std::span<const std::uint64_t> kept_packets() const noexcept { return kept_packets_; }  ///< of those that are both
  std::uint64_t new_flows() const noexcept { return new_flows_; }

  /// Segments that could not be kept until they were acknowledged.
  std::uint64_t dropped_segments() const noexcept { return connections_ ? connections_->segments().dropped() : 0; }

 private:
  static constexpr std::uint16_t kMostPackets = 0xFFFF;

  /// The state that a flow is in: all that is asked for with every packet, four to a cache line.
  struct alignas(16) Stay {
    std::uint32_t states_version = 0;  ///< FlowStates::version() that it is of
    std::uint32_t state_version = 0;   ///< FlowStates::state_version(), likewise
    std::uint16_t hash = 0;            ///< FlowStates::hash_of()
    std::uint16_t packets = 0;         ///< since it was weighed, or the most there can be
    std::uint8_t state = 0, effective_state = 0;
    std::uint8_t weight = 0, weighing = 0;  ///< FlowStates::weighing() that the weight is of
  };
  static_assert(sizeof(Stay) == 16);

  struct alignas(64) Track {
    std::uint64_t after_last_ns = 0;  ///< time of the last packet + 1; 0: none
    std::uint32_t after_place = 0;    ///< the connection's place + 1; 0: none, as in memory that nobody used yet
    std::uint32_t rules = 0;          ///< FlowStates::rules_for(), where they may lead elsewhere later
    std::uint8_t from = 0;            ///< ConnectionEnd's
    RttHistory round_trips;           ///< where anybody asks: since it has its connection

    bool has_connection() const noexcept { return after_place != 0; }
    ConnectionEnd connection() const noexcept { return {after_place - 1, from}; }
    void set_connection(ConnectionEnd end) noexcept {
      after_place = end.place + 1;
      from = end.from;
    }
  };
  static_assert(sizeof(Track) == 64);

  [[gnu::always_inline]] void find_state(const RowUpdate& packet, PacketFinding& finding, FlowKeys key_of) noexcept {
    new_flows_ += packet.starts_flow;
    if (states_ == nullptr) {
      finding.state = finding.effective_state = finding.effective_before = finding.weight = 0;
      return;
    }
    Stay& stay = stays_[packet.slot];
    if (packet.starts_flow) [[unlikely]]
      begin(stay, tracks_[packet.slot], key_of(packet.slot));
    const std::uint8_t state_before = stay.state;
    std::uint8_t effective_before = stay.effective_state;
    if (stay.states_version != states_->version()) [[unlikely]]
      if (choose_states(stay, packet.slot, key_of)) effective_before = states_->lightest(stay.state);
    ++weighed_packets_[stay.state * FlowWeight::kClasses + stay.weight];
    stay.packets = static_cast<std::uint16_t>(stay.packets + (stay.packets != kMostPackets));
    ++effective_packets_[stay.effective_state];
    if (packet.starts_flow || stay.state != state_before) effective_before = stay.effective_state;  // a new stay
    kept_packets_[stay.state] += stay.state == stay.effective_state;
    finding.state = stay.state;
    finding.effective_state = stay.effective_state;
    finding.effective_before = effective_before;
    finding.weight = stay.weight;
    if (by_state_[stay.effective_state].any()) prefetch_line(&tracks_[packet.slot]);
  }

  /// All but what takes the packet's connection, which is asked for.
  [[gnu::always_inline]] void prepare(const RowUpdate& packet, const TcpFacts* tcp, PacketFinding& finding,
                                      FlowKeys key_of) noexcept {
    Track& track = tracks_[packet.slot];
    const FindingNeeds needs = by_state_[finding.effective_state];
    finding.tcp = {};
    finding.payload_bytes = 0;
    finding.iat_ns = PacketFinding::kNone;
    finding.rtts_before = {};
    if (needs.iat) note_time(track, packet.time_ns, finding);
    if (!needs.tcp || tcp == nullptr || !tcp->present) return;
    if (!track.has_connection()) [[unlikely]] {
      track.set_connection(connections_->open(key_of(packet.slot)));
      track.round_trips = {};
    }
    finding.is_tcp = track.has_connection();
    if (finding.is_tcp) connections_->prefetch(track.connection());
  }

  static void note_time(Track& track, std::uint64_t time_ns, PacketFinding& finding) noexcept {
    if (track.after_last_ns != 0)
      finding.iat_ns = time_ns >= track.after_last_ns ? time_ns - track.after_last_ns + 1 : 0;
    track.after_last_ns = time_ns + 1;
  }
  void begin(Stay& stay, Track& track, const FlowKey& flow) noexcept;
  /// Whether the flow comes back after it was shed. The key is in another cache line: only where findings changed, or
  /// the sample grew, is it looked at.
  bool choose_states(Stay& stay, std::uint32_t slot, FlowKeys key_of) noexcept {
    const bool is_back =
        states_->may_come_back(stay.states_version) && states_->comes_back(key_of(slot), stay.states_version);
    if (is_back) lose_track(tracks_[slot]);
    if (stay.state_version != states_->state_version()) {
      stay.state = states_->state_of(key_of(slot), tracks_[slot].rules);
      stay.state_version = states_->state_version();
    }
    stay.states_version = states_->version();
    if (stay.weighing != states_->weighing()) weigh(stay);
    const std::uint8_t effective = states_->effective_state(stay.state, stay.hash, stay.weight);
    if (effective != stay.effective_state) change_effective_state(stay, tracks_[slot], effective);
    return is_back;
  }
  void lose_track(Track& track) noexcept;
  /// A flow becomes lighter by two classes at least, and then by one each time, so that it does not change to and fro:
  /// what is known of it would be lost.
  void weigh(Stay& stay) noexcept {
    const int now = FlowWeight::of(stay.packets), before = stay.weight;
    const int passed = static_cast<std::uint8_t>(states_->weighing() - stay.weighing);  // without a packet, but for one
    const int lighter = passed > 1 ? passed : now < before - 1 ? 1 : 0;
    stay.weight = static_cast<std::uint8_t>(std::max({0, now, before - lighter}));
    stay.packets = 0;
    stay.weighing = states_->weighing();
  }
  void change_effective_state(Stay& stay, Track& track, std::uint8_t state) noexcept;
  void follow(Track& track, const RowUpdate& packet, const TcpFacts& tcp, PacketFinding& finding) noexcept;

  std::vector<FindingNeeds> by_state_;
  std::vector<std::uint64_t> weighed_packets_, effective_packets_, kept_packets_;
  std::uint64_t new_flows_ = 0;
  FlowStates* states_;
  HugeBuffer<Stay> stays_;  ///< by slot; none where there is one state
  HugeBuffer<Track> tracks_;
  std::unique_ptr<TcpConnections> connections_;
  bool keeps_rtts_;
};

}  // namespace parshall
