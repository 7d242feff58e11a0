// SPDX-License-Identifier: Apache-2.0
#include "tester/host/stolen_time.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace parshall::tester {

StolenTimes stolen_times() {
  std::ifstream stat("/proc/stat");
  return stolen_times(stat);
}

/// Parses the counters. The first line is the total, followed by one line for each processor online.
StolenTimes stolen_times(std::istream& stat) {
  constexpr int kSteal = 8;  // user, nice, system, idle, iowait, irq, softirq, steal
  const auto tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  StolenTimes times;
  std::string line, label;
  for (std::getline(stat, line); std::getline(stat, line) && line.starts_with("cpu");) {
    std::istringstream fields(line);
    fields >> label;
    std::uint64_t ticks = 0;
    for (int field = 0; field < kSteal; ++field) fields >> ticks;
    if (fields) times[label] = ticks * tick_ns;
  }
  return times;
}

std::uint64_t most_stolen_ns(const StolenTimes& before, const StolenTimes& after) {
  std::uint64_t most = 0;
  for (const auto& [processor, ns] : after)
    if (const auto was = before.find(processor); was != before.end() && ns > was->second)
      most = std::max(most, ns - was->second);
  return most;
}

}  // namespace parshall::tester
