// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace parshall {

/// Lets one thread sleep until another one has something for it.
///
/// Cost: ring() loads one word while the other thread is awake.
class Doorbell {
 public:
  /// Sleeps until ring() is called, but not longer than `most`, and not at all if `has_work()`. A ring() at the very
  /// moment this falls asleep may go unnoticed, because ring() uses no barrier. Then only the time limit ends the
  /// sleep.
  template <class HasWork>
  void sleep(std::chrono::milliseconds most, HasWork has_work) {
    std::unique_lock lock(mutex_);
    is_asleep_.store(true);
    if (!has_work()) bell_.wait_for(lock, most, [this] { return !is_asleep_.load(std::memory_order_relaxed); });
    is_asleep_.store(false, std::memory_order_relaxed);
  }

  void ring() noexcept {
    if (is_asleep_.load(std::memory_order_relaxed)) [[unlikely]]
      wake();
  }

  /// Wakes the sleeper as ring() does, but is never missed. Meant for rare events.
  [[gnu::noinline]] void wake() noexcept {
    {
      const std::lock_guard lock(mutex_);
      is_asleep_.store(false, std::memory_order_relaxed);
    }
    bell_.notify_one();
  }

 private:
  std::atomic<bool> is_asleep_{false};
  std::mutex mutex_;
  std::condition_variable bell_;
};

}  // namespace parshall
