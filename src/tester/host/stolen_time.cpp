// SPDX-License-Identifier: Apache-2.0
#include "tester/host/stolen_time.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace parshall::tester {

std::uint64_t stolen_ns() {
  std::ifstream stat("/proc/stat");
  return stolen_ns(stat);
}

/// The first line is of all processors together, and each that is online has one of its own behind it.
std::uint64_t stolen_ns(std::istream& stat) {
  constexpr int kSteal = 8;  // user, nice, system, idle, iowait, irq, softirq, steal
  std::string line, label;
  std::getline(stat, line);
  std::istringstream fields(line);
  fields >> label;
  std::uint64_t ticks = 0, processors = 0;
  for (int field = 0; field < kSteal; ++field)
    if (!(fields >> ticks)) return 0;
  while (std::getline(stat, line) && line.starts_with("cpu")) ++processors;
  if (processors == 0) return 0;
  return ticks * 1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)) / processors;
}

}  // namespace parshall::tester
