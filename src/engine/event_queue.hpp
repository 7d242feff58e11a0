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

/// What the analyst found, on its way to whoever writes it.
///
/// Full: where the input can wait, the tasks do, and then the workers; else what comes is dropped and counted.
template <class T>
class FindingQueue {
 public:
  static constexpr std::size_t kCapacity = 1 << 16;

  explicit FindingQueue(bool can_wait) noexcept : can_wait_(can_wait) {}

  void put(T&& found) {
    std::unique_lock lock(mutex_);
    while (waiting_.size() >= kCapacity && can_wait_ && !nobody_takes_.load(std::memory_order_relaxed)) {
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      lock.lock();
    }
    if (waiting_.size() >= kCapacity) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(found));
  }

  /// All that waits.
  std::vector<T> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(waiting_, {});
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
  std::vector<T> waiting_;
  std::uint64_t dropped_ = 0;
};

using EventQueue = FindingQueue<Event>;

}  // namespace parshall
