// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <istream>

namespace parshall::tester {

/// What the host gave to other guests of a processor's time since it started, in ns, on average over those that are
/// online; 0 where it does not tell.
/// Error: ticks of 10 ms. Source: proc(5), stat.
std::uint64_t stolen_ns();

/// The same, by the text of /proc/stat.
std::uint64_t stolen_ns(std::istream& stat);

}  // namespace parshall::tester
