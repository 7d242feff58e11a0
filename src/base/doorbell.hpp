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
  /// Sleeps until ring() is called, at most for `most`; does not sleep where `has_work()`. ring() does not wait for
  /// what it sees, so a call that comes just as this falls asleep may go unheard, and only the time limit ends that.
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

  /// The same, and it is always heard: for what comes rarely.
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
