// SPDX-License-Identifier: Apache-2.0
#include "traffic/conversations.hpp"

#include <algorithm>
#include <cmath>

namespace parshall {

Conversations::Conversations(const TrafficSpec& spec, std::span<const std::uint32_t> flow_of,
                             const std::vector<bool>& others)
    : seed_(SplitMix64::mix(spec.seed)), random_(~spec.seed), flows_(spec.flows + spec.flows % 2) {
  for (std::size_t i = 0; i < flow_of.size(); ++i)
    if (others.empty() || !others[i]) flows_[flow_of[i]].sends = true;
  if (spec.resend_share > 0)
    for (Flow& flow : flows_) flow.resends = static_cast<float>(draw_resends(spec.resend_share));
}

Segment Conversations::segment(std::uint64_t number, std::uint32_t room) noexcept {
  Flow &flow = flows_[number], &peer = flows_[number ^ 1];
  Segment segment{.sequence = first_sequence(number) + flow.sent,
                  .acknowledgment = first_sequence(number ^ 1) + peer.sent,
                  .window = 0xFFFF};
  if (!flow.sends || !peer.sends) return segment;
  segment.payload_bytes = room;
  const bool again = flow.sent != 0 && flow.resends > 0 && random_.uniform() < flow.resends;
  if (again)
    segment.sequence -= room;
  else
    flow.sent += room;
  return segment;
}

std::vector<std::uint32_t> Conversations::advances() const {
  std::vector<std::uint32_t> advances(flows_.size());
  std::ranges::transform(flows_, advances.begin(), &Flow::sent);
  return advances;
}

std::uint32_t Conversations::first_sequence(std::uint64_t number) const noexcept {
  return static_cast<std::uint32_t>(SplitMix64::mix(seed_ ^ number));
}

double Conversations::draw_resends(double share) noexcept {
  return std::min(0.5, -std::log(1 - random_.uniform()) * share);
}

}  // namespace parshall
