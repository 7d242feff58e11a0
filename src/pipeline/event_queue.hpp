// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/measure/tasks/event.hpp"

namespace parshall {

/// Events on their way to whoever writes them.
///
/// Full: where the input can wait, the tasks do, and then the workers; else the event is dropped and counted.
class EventQueue {
 public:
  static constexpr std::size_t kCapacity = 1 << 16;

  explicit EventQueue(bool can_wait) noexcept : can_wait_(can_wait) {}

  void put(Event&& event) {
    std::unique_lock lock(mutex_);
    while (events_.size() >= kCapacity && can_wait_ && !nobody_takes_.load(std::memory_order_relaxed)) {
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      lock.lock();
    }
    if (events_.size() >= kCapacity) {
      ++dropped_;
      return;
    }
    events_.push_back(std::move(event));
  }

  /// All that waits.
  std::vector<Event> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }

  /// From now on nothing waits for room.
  void stop_waiting() noexcept { nobody_takes_.store(true, std::memory_order_relaxed); }

  std::uint64_t dropped() {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  bool can_wait_;
  std::atomic<bool> nobody_takes_{false};
  std::mutex mutex_;
  std::vector<Event> events_;
  std::uint64_t dropped_ = 0;
};

}  // namespace parshall
