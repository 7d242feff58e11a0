// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace parshall {

/// Time as a thread would see it that had a core to itself: the processor time that it was given, and what it waited.
/// So what else runs on the machine takes its caches, but not its time. One thread reads it.
///
/// Error: a virtual machine is itself interrupted, which its clocks count as work: between two readings no more than
///        kMostNs go by, and what is left out is told.
class WorkClock {
 public:
  static constexpr std::uint64_t kMostNs = 500'000;  ///< a batch takes a fifth of it

  std::uint64_t now_ns() noexcept {
    timespec now;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const std::uint64_t cpu_ns =
        static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
    // Another thread's first reading has nothing before it.
    if (cpu_ns_ != 0 && cpu_ns > cpu_ns_) {
      const std::uint64_t since_ns = cpu_ns - cpu_ns_, worked_ns = std::min(since_ns, kMostNs);
      now_ns_ += worked_ns;
      left_out_ns_ += since_ns - worked_ns;
    }
    cpu_ns_ = cpu_ns;
    return now_ns_;
  }
  void wait(std::uint64_t ns) noexcept { now_ns_ += ns; }

  std::uint64_t left_out_ns() const noexcept { return left_out_ns_; }

 private:
  std::uint64_t cpu_ns_ = 0, now_ns_ = 0, left_out_ns_ = 0;
};

}  // namespace parshall
