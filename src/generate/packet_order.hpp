// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "generate/traffic_spec.hpp"

namespace parshall {

/// Flow of each of so many packets, in their order. Throws std::bad_alloc.
std::vector<std::uint32_t> order_packets(const TrafficSpec& spec, std::uint64_t packets);

/// Which of them are a flood's; empty: none. Throws std::bad_alloc.
std::vector<bool> place_flood(const TrafficSpec& spec, std::uint64_t packets);

}  // namespace parshall
