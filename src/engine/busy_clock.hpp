// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <x86intrin.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace parshall {

/// How much of a thread's time is work, by the time stamp counter. One thread writes, any may read.
///
/// Shape: a cache line, since those of several threads are beside each other.
class alignas(64) BusyClock {
 public:
  using Ticks = std::array<std::uint64_t, 2>;  ///< of work, and of all

  void begin() noexcept { turn_began_ = __rdtsc(); }

  /// What passed since the turn before.
  void end_turn(bool was_work) noexcept {
    const std::uint64_t now = __rdtsc(), taken = now - turn_began_;
    turn_began_ = now;
    add(all_, taken);
    if (was_work) add(work_, taken);
  }

  Ticks read() const noexcept { return {work_.load(std::memory_order_relaxed), all_.load(std::memory_order_relaxed)}; }

  /// In [0, 1]; 0 where nothing passed. `before` becomes `now`.
  static double share_since(Ticks& before, const Ticks& now) noexcept {
    const auto work = static_cast<double>(now[0] - before[0]), all = static_cast<double>(now[1] - before[1]);
    before = now;
    return all > 0 ? work / all : 0;
  }

 private:
  static void add(std::atomic<std::uint64_t>& to, std::uint64_t more) noexcept {
    to.store(to.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  std::uint64_t turn_began_ = 0;
  std::atomic<std::uint64_t> work_{0}, all_{0};
};

}  // namespace parshall
