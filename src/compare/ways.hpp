// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compare/comparison.hpp"

namespace parshall {

/// Finds in which direction each flow passed the taps. A flow with the lower TTL at DOWN goes there. Otherwise the two
/// directions of a connection are told apart by the clocks: the difference of times is larger there. A flow without the
/// other direction is judged by those that are known, and goes there if none is.
std::vector<Way> find_ways(const Pairing& pairing, const FlowNumbers& flows);

}  // namespace parshall
