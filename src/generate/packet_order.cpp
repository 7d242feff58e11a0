// SPDX-License-Identifier: Apache-2.0
#include "generate/packet_order.hpp"

#include <utility>

#include "base/random.hpp"

namespace parshall {
namespace {

/// Round robin, shuffled.
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

}  // namespace

std::vector<std::uint32_t> order_packets(const TrafficSpec& spec, std::uint64_t packets) {
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
