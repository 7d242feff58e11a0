// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "traffic/traffic_spec.hpp"

namespace parshall {

/// Returns the flow of each packet, in order. Throws std::bad_alloc.
///
/// Uniform traffic is shuffled round robin: each flow has packets / flows packets, rounded either way. In a ladder, the
/// k-th flow is k times slower than the first. At any time each flow has had its share of the packets so far, to within
/// one packet, which is as even as one line allows. A ladder is not random. Source: the ladder is the traffic of the
/// fair queueing of Zhang et al., IEEE TNSM 2019, section IV-D.
std::vector<std::uint32_t> order_packets(const TrafficSpec& spec, std::uint64_t packets);

/// Returns which packets are of a flood; empty if there is none. Throws std::bad_alloc.
std::vector<bool> place_flood(const TrafficSpec& spec, std::uint64_t packets);

}  // namespace parshall
