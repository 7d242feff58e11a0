// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace parshall {

/// Clock of a thread as if it had a core to itself: its processor time, plus the time that it waited. Other programs
/// may thus take its caches, but not its time. Only one thread may read it.
///
/// Error: reading the processor time is a system call. Between readings, the system-wide clock replaces it for at most
///        kTrustedNs; if that ran ahead, the clock pauses. Interruptions of a virtual machine count as work in its
///        clocks, so at most kMostNs pass between two readings. The rest is reported as left out.
class WorkClock {
 public:
  static constexpr std::uint64_t kMostNs = 500'000;  ///< a batch takes a fifth of it
  static constexpr std::uint64_t kTrustedNs = 50'000;

  std::uint64_t now_ns() noexcept {
    const std::uint64_t since_ns = read_ns(CLOCK_MONOTONIC) - read_at_ns_;
    if (since_ns >= kTrustedNs)
      read_worked();
    else
      told_ns_ = std::max(told_ns_, now_ns_ + since_ns - std::min(now_ns_ + since_ns, not_work_ns_));
    return told_ns_ = std::max(told_ns_, now_ns_ - std::min(now_ns_, not_work_ns_));
  }
  void wait(std::uint64_t ns) noexcept { now_ns_ += ns; }
  /// Excludes some of the passing time from the work.
  void leave_out(std::uint64_t ns) noexcept { not_work_ns_ += ns; }

  std::uint64_t left_out_ns() const noexcept { return left_out_ns_; }

 private:
  static std::uint64_t read_ns(clockid_t clock) noexcept {
    timespec now;
    ::clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  }

  void read_worked() noexcept {
    const std::uint64_t cpu_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
    // The first reading in another thread has no predecessor.
    if (cpu_ns_ != 0 && cpu_ns > cpu_ns_) {
      const std::uint64_t since_ns = cpu_ns - cpu_ns_, worked_ns = std::min(since_ns, kMostNs);
      now_ns_ += worked_ns;
      left_out_ns_ += since_ns - worked_ns;
    }
    cpu_ns_ = cpu_ns;
    read_at_ns_ = read_ns(CLOCK_MONOTONIC);
  }

  std::uint64_t cpu_ns_ = 0, now_ns_ = 0, left_out_ns_ = 0;
  std::uint64_t read_at_ns_ = 0;  ///< on the system-wide clock
  std::uint64_t told_ns_ = 0;     ///< never decreases
  std::uint64_t not_work_ns_ = 0;
};

}  // namespace parshall
