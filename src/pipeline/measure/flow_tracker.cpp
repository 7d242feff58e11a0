// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/flow_tracker.hpp"

#include <algorithm>

namespace parshall {
namespace {

bool any_tcp(std::span<const FindingNeeds> by_state) noexcept {
  return std::ranges::any_of(by_state, &FindingNeeds::tcp);
}

}  // namespace

FlowTracker::FlowTracker(std::vector<FindingNeeds> by_state, FlowStates* states, SlotRows& slots, std::uint64_t seed)
    : by_state_(std::move(by_state)),
      weighed_packets_(by_state_.size() * FlowWeight::kClasses),
      effective_packets_(by_state_.size()),
      kept_packets_(by_state_.size()),
      states_(states),
      stays_(states == nullptr ? SlotColumn<Stay>() : slots.add<Stay>()),
      tracks_(slots.add<Track>()),
      keeps_rtts_(std::ranges::any_of(by_state_, &FindingNeeds::rtt_history)) {
  if (any_tcp(by_state_)) connections_ = std::make_unique<TcpConnections>(slots.slots(), seed);
}

std::size_t FlowTracker::memory_bytes(std::span<const FindingNeeds> by_state, std::size_t slots) noexcept {
  return any_tcp(by_state) ? TcpConnections::memory_bytes(slots) : 0;
}

bool FlowTracker::open(Track& track, const RowUpdate& packet, FlowKeys key_of) noexcept {
  const ConnectionEnd end = connections_->open(key_of(packet.slot), packet.slot);
  track.set_connection(end);
  if (end.place == kNowhere) return false;
  const std::uint32_t other = connections_->other_slot(end);
  return other != CompactConnection::kNoSlot && key_of.is_over(other, packet.time_ns);
}

/// Starts tracking a flow; flow_ended() has reset its row.
void FlowTracker::begin(Stay& stay, Track& track, const FlowKey& flow) noexcept {
  const std::uint32_t rules = states_->rules_for(flow);
  stay = {.hash = states_->hash_of(flow)};
  if (!states_->is_fixed()) track.rules = rules;
  stay.state = stay.effective_state = states_->state_of(flow, rules);
  stay.state_version = states_->state_version();
}

/// Changes the effective state. History from before a gap is useless, except for the round-trip times of a flow in a
/// lighter state.
void FlowTracker::change_effective_state(Stay& stay, Track& track, std::uint8_t state) noexcept {
  const bool was_followed = by_state_[stay.effective_state].tcp;
  stay.effective_state = state;
  const FindingNeeds needs = by_state_[state];
  if (!needs.iat) track.after_last_ns = 0;
  if (needs.tcp || !track.has_connection()) return;
  if (by_state_[stay.state].tcp) {
    if (was_followed) connections_->pause(track.connection());
  } else {
    connections_->forget(track.connection());
    track.set_connection({});
  }
}

/// Forgets the last packet of a flow that was shed, as its next packet does not follow it.
void FlowTracker::lose_track(Track& track) noexcept {
  track.after_last_ns = 0;
  if (track.has_connection()) connections_->pause(track.connection());
}

}  // namespace parshall
