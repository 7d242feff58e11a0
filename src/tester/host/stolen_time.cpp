// SPDX-License-Identifier: Apache-2.0
#include "tester/host/stolen_time.hpp"

#include <unistd.h>

#include <fstream>
#include <string>

namespace parshall::tester {

std::uint64_t stolen_ns() {
  constexpr int kSteal = 8;  // user, nice, system, idle, iowait, irq, softirq, steal
  std::ifstream stat("/proc/stat");
  std::string label;
  stat >> label;
  std::uint64_t ticks = 0;
  for (int field = 0; field < kSteal; ++field)
    if (!(stat >> ticks)) return 0;
  return ticks * 1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
}

}  // namespace parshall::tester
