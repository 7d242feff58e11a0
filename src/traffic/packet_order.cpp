// SPDX-License-Identifier: Apache-2.0
#include "traffic/packet_order.hpp"

#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "base/random.hpp"

namespace parshall {
namespace {

/// Orders flows round robin, shuffled.
std::vector<std::uint32_t> uniform(const TrafficSpec& spec, std::uint64_t packets) {
  std::vector<std::uint32_t> flow_of(packets);
  SplitMix64 random(spec.seed);
  for (std::uint64_t i = 0; i < packets; ++i) flow_of[i] = static_cast<std::uint32_t>(i % spec.flows);
  for (std::uint64_t i = packets; i > 1; --i) std::swap(flow_of[i - 1], flow_of[random.below(i)]);
  return flow_of;
}

std::vector<std::uint32_t> zipf(const TrafficSpec& spec, std::uint64_t packets) {
  constexpr std::uint64_t kSteps = 64;
  std::vector<std::uint32_t> flow_of(packets);
  SplitMix64 random(spec.seed);
  const double change = spec.last_zipf_exponent > 0 ? spec.last_zipf_exponent - spec.zipf_exponent : 0;
  for (std::uint64_t step = 0, at = 0; step < kSteps; ++step) {
    const Zipf draw(spec.zipf_exponent + change * static_cast<double>(step) / (kSteps - 1), spec.flows);
    for (; at < packets * (step + 1) / kSteps; ++at) flow_of[at] = static_cast<std::uint32_t>(draw(random));
  }
  return flow_of;
}

/// Gives the k-th of n flows a share of 1/k. Returns, for k from 0 to n, how many of the packets are of the first k
/// flows.
std::vector<std::uint64_t> rungs(std::uint64_t flows, std::uint64_t packets) {
  std::vector<double> shares(flows + 1);
  for (std::uint64_t k = 1; k <= flows; ++k) shares[k] = shares[k - 1] + 1 / static_cast<double>(k);
  std::vector<std::uint64_t> until(flows + 1);
  for (std::uint64_t k = 1; k < flows; ++k)
    until[k] = static_cast<std::uint64_t>(std::llround(static_cast<double>(packets) * (shares[k] / shares[flows])));
  until[flows] = packets;
  return until;
}

/// Orders the packets of a ladder. The i-th packet of a flow with n of P packets may go from i P / n on, and must go
/// before (i + 1) P / n. Of those that may go, the one with the earliest deadline does, so all are in time. Source:
/// Bennett and Zhang, "WF2Q: worst-case fair weighted fair queueing", INFOCOM 1996.
std::vector<std::uint32_t> ladder(const TrafficSpec& spec, std::uint64_t packets) {
  using NextPacket = std::pair<std::uint64_t, std::uint32_t>;  // time, and flow
  std::priority_queue<NextPacket, std::vector<NextPacket>, std::greater<>> may_go, must_go;
  const std::vector<std::uint64_t> until = rungs(spec.flows, packets);
  std::vector<std::uint32_t> gone(spec.flows);
  for (std::uint32_t flow = 0; flow < spec.flows; ++flow)
    if (until[flow + 1] != until[flow]) may_go.push({0, flow});
  std::vector<std::uint32_t> flow_of(packets);
  for (std::uint64_t now = 0; now < packets; ++now) {
    for (; !may_go.empty() && may_go.top().first <= now; may_go.pop()) {
      const std::uint32_t flow = may_go.top().second;
      const std::uint64_t count = until[flow + 1] - until[flow];
      must_go.push({((gone[flow] + 1) * packets + count - 1) / count, flow});
    }
    const std::uint32_t flow = flow_of[now] = must_go.top().second;
    must_go.pop();
    const std::uint64_t count = until[flow + 1] - until[flow];
    if (++gone[flow] < count) may_go.push({gone[flow] * packets / count, flow});
  }
  return flow_of;
}

}  // namespace

std::vector<std::uint32_t> order_packets(const TrafficSpec& spec, std::uint64_t packets) {
  if (spec.ladder) return ladder(spec, packets);
  return spec.zipf_exponent > 0 ? zipf(spec, packets) : uniform(spec, packets);
}

std::vector<bool> place_flood(const TrafficSpec& spec, std::uint64_t packets) {
  if (spec.flood_share == 0) return {};
  std::vector<bool> flood(packets);
  SplitMix64 random(SplitMix64::mix(~spec.seed));
  for (std::uint64_t i = 0; i < packets; ++i) flood[i] = random.uniform() < spec.flood_share;
  return flood;
}

}  // namespace parshall
