// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sched.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "base/choices.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/thread_name.hpp"

namespace parshall {

/// How a thread waits: spins for ever, spins for a while before it yields to others, or yields at once.
enum class Waiting : std::uint8_t { busily, soon_asleep, asleep };

/// Paces a thread while nothing comes: it spins, then yields, then naps, and sleeps after about two milliseconds.
///
/// If other threads want the core, a thread that yields all the time uses up its time slice before packets come, and
/// its queue fills until the next slice. So after a yield that took long, it naps instead of yielding for a while:
/// schedulers prefer threads that used little time.
class Idle {
 public:
  explicit Idle(Waiting waiting) noexcept : waiting_(waiting) {}
  explicit Idle(bool busy_poll) noexcept : Idle(busy_poll ? Waiting::busily : Waiting::soon_asleep) {}

  /// Ends the waiting because something has come. After a sleep it may have been all, so the thread then naps before it
  /// spins.
  void reset() noexcept {
    waits_ = waits_ < kSleeps ? 0 : kNaps;
    is_waiting_ = false;
  }
  /// Keeps the thread at naps instead of sleep, because some work is left that can wait.
  void stay_awake() noexcept {
    if (waits_ == kSleeps) waits_ = kNaps;
  }
  bool waiting() const noexcept { return is_waiting_; }

  /// Waits for a moment. `sleep` is used by threads that can be woken; others continue with naps.
  template <class Sleep>
  void wait(const Sleep& sleep) noexcept {
    is_waiting_ = true;
    if (waiting_ == Waiting::asleep) return nap();
    if (waits_ < kSleeps) ++waits_;
    if (waits_ < kYields || waiting_ == Waiting::busily) return cpu_pause();
    if (waits_ < kNaps)
      naps_for_yields_ == 0 ? yield() : nap_for_yield();
    else if (waits_ < kSleeps)
      nap();
    else
      sleep();
  }
  void wait() noexcept {
    wait([] { nap(); });
  }

 private:
  static constexpr std::uint32_t kFewNaps = 2'000, kManyNaps = 64'000;              ///< at least 0.2 s and 6 s
  static constexpr std::uint32_t kYields = 64, kNaps = 1024, kSleeps = kNaps + 20;  ///< calls before each begins

  static void nap() noexcept {
    constexpr std::chrono::microseconds kNap{50};  // 740 packets at 10 GbE line rate; a queue holds 4096
    std::this_thread::sleep_for(kNap);
  }

  void yield() noexcept;
  void nap_for_yield() noexcept {
    --naps_for_yields_;
    nap();
  }

  Waiting waiting_;
  bool is_waiting_ = false;  ///< set since the last reset()
  std::uint32_t waits_ = 0;
  std::uint32_t naps_next_ = kFewNaps;  ///< naps after the next yield that takes long
  std::uint32_t naps_for_yields_ = 0;   ///< naps left in place of yields
};

/// Sets the scheduling class of a thread that has not been joined; pin() sets its core. Error: the kernel refuses; the
/// message says what to do.
std::optional<Error> set_scheduler(std::thread& thread, Scheduler scheduler);
std::optional<Error> pin(std::thread& thread, unsigned core);

/// Returns the CPU time of a thread that has not been joined; 0 if the kernel does not report it.
std::uint64_t cpu_ns(std::thread& thread) noexcept;

}  // namespace parshall
