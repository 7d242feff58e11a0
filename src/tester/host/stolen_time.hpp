// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <istream>
#include <map>
#include <string>

namespace parshall::tester {

/// What the host gave to other guests of each processor's time since it started, in ns; none where it does not tell.
/// Error: ticks of 10 ms. Source: proc(5), stat.
using StolenTimes = std::map<std::string, std::uint64_t>;
StolenTimes stolen_times();

/// The same, by the text of /proc/stat.
StolenTimes stolen_times(std::istream& stat);

/// Of the processor that had the most taken: nobody knows which one sent.
std::uint64_t most_stolen_ns(const StolenTimes& before, const StolenTimes& after);

}  // namespace parshall::tester
