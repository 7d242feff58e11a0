// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/flow_tracker.hpp"

#include <algorithm>

namespace parshall {
namespace {

bool any_tcp(std::span<const FindingNeeds> by_state) noexcept {
  return std::ranges::any_of(by_state, &FindingNeeds::tcp);
}

}  // namespace

FlowTracker::FlowTracker(std::vector<FindingNeeds> by_state, FlowStates* states, SlotRows& slots, std::uint64_t seed,
                         Timeouts timeouts)
    : by_state_(std::move(by_state)),
      weighed_packets_(by_state_.size() * FlowWeight::kClasses),
      effective_packets_(by_state_.size()),
      kept_packets_(by_state_.size()),
      states_(states),
      timeouts_(timeouts),
      stays_(states == nullptr ? SlotColumn<Stay>() : slots.add<Stay>()),
      tracks_(slots.add<Track>()),
      keeps_rtts_(std::ranges::any_of(by_state_, &FindingNeeds::rtt_history)),
      notes_all_(states != nullptr && any_tcp(by_state_) && timeouts.shortest_quiet_ns() != 0) {
  if (any_tcp(by_state_)) connections_ = std::make_unique<TcpConnections>(slots.most_used(), seed);
}

std::size_t FlowTracker::memory_bytes(std::span<const FindingNeeds> by_state, std::size_t flows) noexcept {
  return any_tcp(by_state) ? TcpConnections::memory_bytes(flows) : 0;
}

bool FlowTracker::open(Track& track, const RowUpdate& packet, const FlowKey& flow) noexcept {
  const ConnectionEnd end = connections_->open(flow, packet.slot);
  track.set_connection(end);
  if (end.place == kNowhere) return false;
  const std::uint32_t other = connections_->other_slot(end);
  return other != CompactConnection::kNoSlot && is_over(tracks_[other], packet.time_ns);
}

bool FlowTracker::is_over(const Track& track, std::uint64_t now_ns) const noexcept {
  if (track.after_last_ns == 0 || now_ns < track.after_last_ns) return false;
  const std::uint64_t quiet_ns = now_ns - track.after_last_ns + 1;
  const bool is_closed = (track.end_and_bits & Track::kClosed) != 0;
  return (timeouts_.idle_ns != 0 && quiet_ns > timeouts_.idle_ns) ||
         (timeouts_.linger_ns != 0 && is_closed && quiet_ns > timeouts_.linger_ns);
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
  if (!needs.iat) track.end_and_bits |= Track::kGap;
  if (needs.tcp || !track.has_connection()) return;
  if (by_state_[stay.state].tcp) {
    if (was_followed) connections_->pause(track.connection());
  } else {
    connections_->forget(track.connection());
    track.set_connection({});
  }
}

}  // namespace parshall
