// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sched.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "base/choices.hpp"
#include "base/result.hpp"
#include "base/thread_name.hpp"

namespace parshall {

/// How a thread waits: it spins for ever, or for a while before it lets others run, or it lets them at once.
enum class Waiting : std::uint8_t { busily, soon_asleep, asleep };

/// What a thread does while nothing comes.
class Idle {
 public:
  explicit Idle(Waiting waiting) noexcept : waiting_(waiting) {}
  explicit Idle(bool busy_poll) noexcept : Idle(busy_poll ? Waiting::busily : Waiting::soon_asleep) {}
  void reset() noexcept { turns_ = 0; }
  bool waiting() const noexcept { return turns_ != 0; }
  void wait() noexcept {
    ++turns_;
    if (waiting_ != Waiting::asleep) {
      if (turns_ < kSpins || waiting_ == Waiting::busily) return __builtin_ia32_pause();
      if (turns_ < kYields) {
        ::sched_yield();
        return;
      }
    }
    std::this_thread::sleep_for(kNap);
  }

 private:
  static constexpr std::uint32_t kSpins = 64, kYields = 1024;
  static constexpr std::chrono::microseconds kNap{50};  ///< 740 packets of 10 GbE line rate; a queue holds 4096

  Waiting waiting_;
  std::uint32_t turns_ = 0;
};

/// Fails, saying what to do, where the kernel refuses. The thread may be any that has not been joined.
std::optional<Error> set_scheduler(std::thread& thread, Scheduler scheduler);
std::optional<Error> pin(std::thread& thread, unsigned core);

/// CPU time that a thread has taken which has not been joined; 0 where the kernel does not tell.
std::uint64_t cpu_ns(std::thread& thread) noexcept;

}  // namespace parshall
