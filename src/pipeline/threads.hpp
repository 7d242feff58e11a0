// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sched.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "base/result.hpp"

namespace parshall {

enum class Scheduler : std::uint8_t { other, fifo, deadline };

/// What a thread does while nothing comes: spins for a while, then lets others run.
class Idle {
 public:
  explicit Idle(bool busy_poll) noexcept : busy_poll_(busy_poll) {}
  void reset() noexcept { turns_ = 0; }
  bool waiting() const noexcept { return turns_ != 0; }
  void wait() noexcept {
    ++turns_;
    if (turns_ < kSpins || busy_poll_) return __builtin_ia32_pause();
    if (turns_ < kYields) {
      ::sched_yield();
      return;
    }
    std::this_thread::sleep_for(kNap);
  }

 private:
  static constexpr std::uint32_t kSpins = 64, kYields = 1024;
  static constexpr std::chrono::microseconds kNap{50};  ///< 740 packets of 10 GbE line rate; a queue holds 4096

  bool busy_poll_;
  std::uint32_t turns_ = 0;
};

/// What top and the lab know the calling thread by, of at most 15 characters.
void name_this_thread(const char* name) noexcept;

/// Fails, saying what to do, where the kernel refuses. The thread may be any that has not been joined.
std::optional<Error> set_scheduler(std::thread& thread, Scheduler scheduler);
std::optional<Error> pin(std::thread& thread, unsigned core);

}  // namespace parshall
