// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "base/clock.hpp"

namespace parshall {

/// Measures the share of a thread's time that is work, with the time stamp counter. One thread writes, any may read.
///
/// Shape:  a cache line, since the clocks of several threads are adjacent.
class alignas(64) BusyClock {
 public:
  using Ticks = std::array<std::uint64_t, 2>;  ///< work, and total

  void begin() noexcept { round_began_ = cpu_ticks(); }

  /// Counts the time since the previous round of the loop.
  void end_round(bool was_work) noexcept {
    const std::uint64_t now = cpu_ticks(), taken = now - round_began_;
    round_began_ = now;
    add(all_, taken);
    if (was_work) add(work_, taken);
  }

  Ticks read() const noexcept { return {work_.load(std::memory_order_relaxed), all_.load(std::memory_order_relaxed)}; }

  /// Returns the share in [0, 1], or 0 if no time passed; `before` becomes `now`.
  static double share_since(Ticks& before, const Ticks& now) noexcept {
    const auto work = static_cast<double>(now[0] - before[0]), all = static_cast<double>(now[1] - before[1]);
    before = now;
    return all > 0 ? std::min(1.0, work / all) : 0;  // another thread writes in between
  }

 private:
  static void add(std::atomic<std::uint64_t>& to, std::uint64_t more) noexcept {
    to.store(to.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  std::uint64_t round_began_ = 0;
  std::atomic<std::uint64_t> work_{0}, all_{0};
};

}  // namespace parshall
