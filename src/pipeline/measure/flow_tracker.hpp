// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <memory>
#include <numeric>
#include <span>

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
/// before: a row per slot, beside the table.
///
/// Shape: row = 64 bytes; TcpConnections as large as the table, where TCP is asked for. Nothing is allocated after the
///        constructor.
class FlowTracker {
 public:
  /// `by_state`: what has to be found out about flows of each monitoring state. `states`: null where there is one.
  FlowTracker(std::vector<FindingNeeds> by_state, FlowStates* states, std::size_t slots, std::uint64_t seed);

  static std::size_t memory_bytes(std::span<const FindingNeeds> by_state, std::size_t slots) noexcept;

  void populate() noexcept {
    tracks_.populate();
    if (connections_) connections_->populate();
  }

  void prefetch(std::uint32_t slot) const noexcept { prefetch_line(&tracks_[slot]); }

  /// At most kStatBatch packets, in order of arrival. `tcp` is by packet, or empty. `key_of(slot)` is the slot's flow.
  void find(std::span<const RowUpdate> packets, std::span<const TcpFacts> tcp, std::span<PacketFinding> findings,
            FlowKeys key_of) noexcept {
    for (std::size_t i = 0; i < packets.size(); ++i)
      prepare(packets[i], tcp.empty() ? nullptr : &tcp[i], findings[i], key_of);
    if (!connections_) return;
    for (std::size_t i = 0; i < packets.size(); ++i)
      if (findings[i].is_tcp) connections_->prefetch_segments(tracks_[packets[i].slot].connection());
    for (std::size_t i = 0; i < packets.size(); ++i)
      if (findings[i].is_tcp) follow(tracks_[packets[i].slot], packets[i], tcp[i], findings[i]);
  }

  void flow_ended(std::uint32_t slot) noexcept {
    Track& track = tracks_[slot];
    if (track.place != kNowhere) connections_->close(track.connection());
    track = {};
  }
  void flow_moved(std::uint32_t from, std::uint32_t to) noexcept {
    tracks_[to] = tracks_[from];
    tracks_[from] = {};
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

  struct alignas(64) Track {
    std::uint64_t after_last_ns = 0;   ///< time of the last packet + 1; 0: none
    Place place = kNowhere;            ///< the connection's
    std::uint32_t states_version = 0;  ///< FlowStates::version() that the states are of
    std::uint32_t state_version = 0;   ///< FlowStates::state_version(), likewise
    std::uint32_t rules = 0;           ///< FlowStates::rules_for()
    std::uint16_t hash = 0;            ///< FlowStates::hash_of()
    std::uint16_t packets = 0;         ///< since it was weighed, or the most there can be
    std::uint8_t state = 0, effective_state = 0;
    std::uint8_t from : 1 = 0;  ///< ConnectionEnd's
    std::uint8_t weight : 7 = 0;
    std::uint8_t weighing = 0;  ///< FlowStates::weighing() that the weight is of
    RttHistory round_trips;     ///< where anybody asks: since it has its connection

    ConnectionEnd connection() const noexcept { return {place, from}; }
    void set_connection(ConnectionEnd end) noexcept {
      place = end.place;
      from = end.from & 1;
    }
  };
  static_assert(sizeof(Track) == 64);

  /// All but what takes the packet's connection, which is asked for.
  [[gnu::always_inline]] void prepare(const RowUpdate& packet, const TcpFacts* tcp, PacketFinding& finding,
                                      FlowKeys key_of) noexcept {
    Track& track = tracks_[packet.slot];
    if (packet.starts_flow) [[unlikely]] {
      begin(track, key_of(packet.slot));
      ++new_flows_;
    }
    const std::uint8_t state_before = track.state;
    std::uint8_t effective_before = track.effective_state;
    if (states_ != nullptr) {
      if (track.states_version != states_->version()) [[unlikely]]
        if (choose_states(track, packet.slot, key_of)) effective_before = states_->lightest(track.state);
      ++weighed_packets_[track.state * FlowWeight::kClasses + track.weight];
      track.packets = static_cast<std::uint16_t>(track.packets + (track.packets != kMostPackets));
      ++effective_packets_[track.effective_state];
      if (packet.starts_flow || track.state != state_before) effective_before = track.effective_state;  // a new stay
      kept_packets_[track.state] += track.state == track.effective_state;
    }
    finding = {.state = track.state, .effective_state = track.effective_state, .effective_before = effective_before};
    if (by_state_[track.effective_state].iat) note_time(track, packet.time_ns, finding);
    if (!by_state_[track.effective_state].tcp || tcp == nullptr || !tcp->present) return;
    if (track.place == kNowhere) [[unlikely]] {
      track.set_connection(connections_->open(key_of(packet.slot)));
      track.round_trips = {};
    }
    finding.is_tcp = track.place != kNowhere;
    if (finding.is_tcp) connections_->prefetch(track.connection());
  }

  static void note_time(Track& track, std::uint64_t time_ns, PacketFinding& finding) noexcept {
    if (track.after_last_ns != 0)
      finding.iat_ns = time_ns >= track.after_last_ns ? time_ns - track.after_last_ns + 1 : 0;
    track.after_last_ns = time_ns + 1;
  }
  void begin(Track& track, const FlowKey& flow) noexcept;
  /// Whether the flow comes back after it was shed. The key is in another cache line: only where findings changed, or
  /// the sample grew, is it looked at.
  bool choose_states(Track& track, std::uint32_t slot, FlowKeys key_of) noexcept {
    const bool is_back =
        states_->may_come_back(track.states_version) && states_->comes_back(key_of(slot), track.states_version);
    if (is_back) lose_track(track);
    if (track.state_version != states_->state_version()) {
      track.state = states_->state_of(key_of(slot), track.rules);
      track.state_version = states_->state_version();
    }
    track.states_version = states_->version();
    if (track.weighing != states_->weighing()) weigh(track);
    change_effective_state(track, states_->effective_state(track.state, track.hash, track.weight));
    return is_back;
  }
  void lose_track(Track& track) noexcept;
  /// A flow becomes lighter by two classes at least, and then by one each time, so that it does not change to and fro:
  /// what is known of it would be lost.
  void weigh(Track& track) noexcept {
    const int now = FlowWeight::of(track.packets), before = track.weight;
    const int passed =
        static_cast<std::uint8_t>(states_->weighing() - track.weighing);  // without a packet, but for one
    const int lighter = passed > 1 ? passed : now < before - 1 ? 1 : 0;
    track.weight = static_cast<std::uint8_t>(std::max({0, now, before - lighter})) & 0x7F;
    track.packets = 0;
    track.weighing = states_->weighing();
  }
  void change_effective_state(Track& track, std::uint8_t state) noexcept;
  void follow(Track& track, const RowUpdate& packet, const TcpFacts& tcp, PacketFinding& finding) noexcept;

  std::vector<FindingNeeds> by_state_;
  std::vector<std::uint64_t> weighed_packets_, effective_packets_, kept_packets_;
  std::uint64_t new_flows_ = 0;
  FlowStates* states_;
  HugeBuffer<Track> tracks_;
  std::unique_ptr<TcpConnections> connections_;
  bool keeps_rtts_;
};

}  // namespace parshall
