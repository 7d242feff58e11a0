// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <istream>
#include <map>
#include <string>

namespace parshall::tester {

/// Time in ns that the host has given to other guests, by processor, since its start; empty if it is not reported.
/// Error: ticks of 10 ms. Source: proc(5), stat.
using StolenTimes = std::map<std::string, std::uint64_t>;
StolenTimes stolen_times();

/// Parses the same from the text of /proc/stat.
StolenTimes stolen_times(std::istream& stat);

/// Returns the stolen time of the most affected processor, since the one that sent is unknown.
std::uint64_t most_stolen_ns(const StolenTimes& before, const StolenTimes& after);

}  // namespace parshall::tester
