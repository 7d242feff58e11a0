// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/flow_tracker.hpp"

#include <algorithm>

namespace parshall {
namespace {

bool any_tcp(std::span<const FindingNeeds> by_state) noexcept {
  return std::ranges::any_of(by_state, &FindingNeeds::tcp);
}

}  // namespace

FlowTracker::FlowTracker(std::vector<FindingNeeds> by_state, FlowStates* states, std::size_t slots, std::uint64_t seed)
    : by_state_(std::move(by_state)),
      weighed_packets_(by_state_.size() * FlowWeight::kClasses),
      effective_packets_(by_state_.size()),
      kept_packets_(by_state_.size()),
      states_(states),
      tracks_(slots),
      keeps_rtts_(std::ranges::any_of(by_state_, &FindingNeeds::rtt_history)) {
  if (any_tcp(by_state_)) connections_ = std::make_unique<TcpConnections>(slots, seed);
}

std::size_t FlowTracker::memory_bytes(std::span<const FindingNeeds> by_state, std::size_t slots) noexcept {
  return slots * sizeof(Track) + (any_tcp(by_state) ? TcpConnections::memory_bytes(slots) : 0);
}

void FlowTracker::begin(Track& track, const FlowKey& flow) noexcept {
  track = {};
  if (states_ == nullptr) return;
  track.rules = states_->rules_for(flow);
  track.hash = states_->hash_of(flow);
}

/// What it knows of the flow from before is of no use after a gap, but for the round trips of one that gives way.
void FlowTracker::change_effective_state(Track& track, std::uint8_t state) noexcept {
  const bool was_followed = by_state_[track.effective_state].tcp;
  track.effective_state = state;
  const FindingNeeds needs = by_state_[state];
  if (!needs.iat) track.after_last_ns = 0;
  if (needs.tcp || track.place == kNowhere) return;
  if (by_state_[track.state].tcp) {
    if (was_followed) connections_->pause(track.connection());
  } else {
    connections_->forget(track.connection());
    track.set_connection({});
  }
}

/// Of a flow that was shed: its next packet follows none that is known.
void FlowTracker::lose_track(Track& track) noexcept {
  track.after_last_ns = 0;
  if (track.place != kNowhere) connections_->pause(track.connection());
}

void FlowTracker::follow(Track& track, const RowUpdate& packet, const TcpFacts& tcp, PacketFinding& finding) noexcept {
  TcpConnection& connection = (*connections_)[track.place];
  finding.payload_bytes = tcp.payload_bytes;
  analyse_tcp(connection, track.from, tcp, packet.counts.tcp_flags(), packet.time_ns, connections_->segments(),
              finding.tcp);
  if (!keeps_rtts_ || finding.tcp.rtt_ns == TcpFinding::kNone || finding.tcp.rtt_ambiguous) return;
  finding.rtts_before = track.round_trips;
  track.round_trips.add(finding.tcp.rtt_ns);
}

}  // namespace parshall
