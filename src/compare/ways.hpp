// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compare/comparison.hpp"

namespace parshall {

/// Finds in which direction each flow passed the taps, by the first of these that tells:
///
/// - its TTL, or that of the other direction of its connection, is lower behind a router;
/// - of the two directions of a connection, the difference of times is larger there, for packets next to each other;
/// - its differences of times are nearer to those of flows there, or back, at the same time;
/// - without any such flow: no packet arrives before it was sent by equal clocks;
/// - a flow that only DOWN saw goes back if other flows do.
///
/// Any other flow goes there.
std::vector<Way> find_ways(const Pairing& pairing, const FlowNumbers& flows);

}  // namespace parshall
