// SPDX-License-Identifier: Apache-2.0
#include "generate/conversations.hpp"

#include <algorithm>
#include <cmath>

namespace parshall {
namespace {

constexpr std::uint32_t kGap = 0x5555'5555;  // three of them and one go round TCP's sequence numbers

}  // namespace

Conversations::Conversations(const TrafficSpec& spec, std::span<const std::uint32_t> flow_of,
                             const std::vector<bool>& others)
    : packets_(flow_of.size()), random_(~spec.seed), flows_(spec.flows + 1) {
  for (std::uint64_t i = 0; i < packets_; ++i)
    if (others.empty() || !others[i]) flows_[flow_of[i]].thirds |= 1u << third(i);
  if (spec.resend_share > 0)
    for (Flow& flow : flows_) flow.resends = static_cast<float>(draw_resends(spec.resend_share));
}

Segment Conversations::segment(std::uint64_t at, std::uint64_t number, std::uint32_t room) noexcept {
  Flow &flow = flows_[number], &peer = flows_[number ^ 1];
  if (flow.thirds != kAllThirds || peer.thirds != kAllThirds)
    return {.sequence = flow.sent, .acknowledgment = peer.sent, .window = 0xFFFF};
  const bool again = flow.sent != 1 && flow.resends > 0 && random_.uniform() < flow.resends;
  if (!again) flow.sent += room;
  return {.payload_bytes = room,
          .sequence = flow.sent - room + third(at) * kGap,
          .acknowledgment = peer.sent + third(at) * kGap,
          .window = 0xFFFF};
}

double Conversations::draw_resends(double share) noexcept {
  return std::min(0.5, -std::log(1 - random_.uniform()) * share);
}

}  // namespace parshall
