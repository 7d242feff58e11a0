// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall::tester {

/// What the host gave to other guests of all processors' time since it started, in ns; 0 where it does not tell.
/// Error: ticks of 10 ms. Source: proc(5), stat.
std::uint64_t stolen_ns();

}  // namespace parshall::tester
