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

/// Paces a thread while nothing comes: it spins, then yields, then naps, and after some two milliseconds it sleeps.
///
/// Where others wait for the core, a thread that yields all day has used up its share of it when packets come, and
/// waits for its next turn while its queue fills. So once a yield has taken long, the thread naps in place of yields
/// for a while: a scheduler prefers who has used little.
class Idle {
 public:
  explicit Idle(Waiting waiting) noexcept : waiting_(waiting) {}
  explicit Idle(bool busy_poll) noexcept : Idle(busy_poll ? Waiting::busily : Waiting::soon_asleep) {}

  /// Something has come. The first time after a sleep it may be all: then the thread naps before it would spin.
  void reset() noexcept {
    turns_ = turns_ < kSleeps ? 0 : kNaps;
    is_waiting_ = false;
  }
  /// There is something left to do that can wait: the thread naps, but does not sleep.
  void stay_awake() noexcept {
    if (turns_ == kSleeps) turns_ = kNaps;
  }
  bool waiting() const noexcept { return is_waiting_; }

  /// Waits for a moment. `sleep` is what a thread does that can be woken; others go on with naps.
  template <class Sleep>
  void wait(const Sleep& sleep) noexcept {
    is_waiting_ = true;
    if (waiting_ == Waiting::asleep) return nap();
    if (turns_ < kSleeps) ++turns_;
    if (turns_ < kYields || waiting_ == Waiting::busily) return __builtin_ia32_pause();
    if (turns_ < kNaps)
      naps_for_yields_ == 0 ? yield() : nap_for_yield();
    else if (turns_ < kSleeps)
      nap();
    else
      sleep();
  }
  void wait() noexcept {
    wait([] { nap(); });
  }

 private:
  static constexpr std::uint32_t kFewNaps = 2'000, kManyNaps = 64'000;              ///< at least 0.2 s and 6 s
  static constexpr std::uint32_t kYields = 64, kNaps = 1024, kSleeps = kNaps + 20;  ///< turns before each begins

  static void nap() noexcept {
    constexpr std::chrono::microseconds kNap{50};  // 740 packets of 10 GbE line rate; a queue holds 4096
    std::this_thread::sleep_for(kNap);
  }

  void yield() noexcept;
  void nap_for_yield() noexcept {
    --naps_for_yields_;
    nap();
  }

  Waiting waiting_;
  bool is_waiting_ = false;  ///< since something came last
  std::uint32_t turns_ = 0;
  std::uint32_t naps_for_yields_ = 0;   ///< still to come
  std::uint32_t naps_next_ = kFewNaps;  ///< after the next yield that takes long
};

/// Fails, saying what to do, where the kernel refuses. The thread may be any that has not been joined.
std::optional<Error> set_scheduler(std::thread& thread, Scheduler scheduler);
std::optional<Error> pin(std::thread& thread, unsigned core);

/// CPU time that a thread has taken which has not been joined; 0 where the kernel does not tell.
std::uint64_t cpu_ns(std::thread& thread) noexcept;

}  // namespace parshall
