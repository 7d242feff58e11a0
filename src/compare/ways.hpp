// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <limits>
#include <vector>

#include "compare/pairing.hpp"
#include "compare/passed.hpp"

namespace parshall {

constexpr std::size_t kNoPartner = std::numeric_limits<std::size_t>::max();

/// Returns the other direction of each flow, or kNoPartner.
std::vector<std::size_t> partners_of(const FlowNumbers& flows);

/// Finds in which direction each flow passed the taps, by the first of these that tells:
///
/// - its TTL, or that of the other direction of its connection, is lower behind a router;
/// - of the two directions of a connection, the difference of times is larger there, for packets next to each other;
/// - its differences of times are nearer to those of flows there, or back, at the same time;
/// - without any such flow: no packet arrives before it was sent by equal clocks;
/// - a flow that only DOWN saw goes back if other flows do.
///
/// Any other flow goes there. `partners` has the other direction of each flow.
std::vector<Way> find_ways(const Pairing& pairing, std::vector<std::size_t> partners);

}  // namespace parshall
