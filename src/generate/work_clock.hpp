// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <time.h>

#include <cstdint>

namespace parshall {

/// Time as a thread would see it that had a core to itself: the processor time that it was given, and what it waited.
/// So what else runs on the machine takes its caches, but not its time. One thread reads it.
class WorkClock {
 public:
  std::uint64_t now_ns() const noexcept {
    timespec now;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return waited_ns_ + static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
  }
  void wait(std::uint64_t ns) noexcept { waited_ns_ += ns; }

 private:
  std::uint64_t waited_ns_ = 0;
};

}  // namespace parshall
