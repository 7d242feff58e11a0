// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>

#include "base/clock.hpp"

namespace parshall {

/// Counts the time stamp counter cycles that a stage spends, and on how many packets. One thread writes, any may read.
class StageCost {
 public:
  /// Counts the cycles that pass while it lives; counts nothing if `to` is null.
  class Timer {
   public:
    Timer(StageCost* to, std::uint64_t packets) noexcept : to_(to), packets_(packets), began_(to ? cpu_ticks() : 0) {}
    ~Timer() {
      if (to_ != nullptr) to_->add(cpu_ticks() - began_, packets_);
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    StageCost* to_;
    std::uint64_t packets_;
    std::uint64_t began_;
  };

  std::uint64_t cycles() const noexcept { return cycles_.load(std::memory_order_relaxed); }
  std::uint64_t packets() const noexcept { return packets_.load(std::memory_order_relaxed); }

 private:
  void add(std::uint64_t cycles, std::uint64_t packets) noexcept {
    cycles_.store(this->cycles() + cycles, std::memory_order_relaxed);
    packets_.store(this->packets() + packets, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> cycles_{0}, packets_{0};
};

}  // namespace parshall
