// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/measure/tasks/finding_list.hpp"

namespace parshall {

/// Queue of findings from the analyst to their consumer.
///
/// Memory: memory_bytes(), by the size of findings; kCapacity of a few values each.
/// Full:   if the input can wait, the tasks wait, and then the workers. Otherwise new findings are dropped and counted.
template <class T>
class FindingQueue {
 public:
  static constexpr std::size_t kCapacity = 1 << 16, kBytes = std::size_t{32} << 20;

  static constexpr std::uint64_t memory_bytes() noexcept { return kBytes + kHandedOut; }

  explicit FindingQueue(bool can_wait) noexcept : can_wait_(can_wait) {}

  void put(T&& found) {
    std::unique_lock lock(mutex_);
    while (!waiting_.has_room_for(found) && can_wait_ && !nobody_takes_.load(std::memory_order_relaxed)) {
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      lock.lock();
    }
    if (waiting_.has_room_for(found))
      waiting_.push(std::move(found));
    else
      ++dropped_;
  }

  /// Takes everything in the queue.
  std::vector<T> take() {
    const std::lock_guard lock(mutex_);
    return waiting_.pop_some(waiting_.size());
  }

  /// Hands out everything now in the queue, a few at a time, which makes room early.
  template <class Visit>
  void drain(Visit visit) {
    std::size_t left;
    {
      const std::lock_guard lock(mutex_);
      left = waiting_.size();
    }
    while (left != 0) {
      std::vector<T> some;
      {
        const std::lock_guard lock(mutex_);
        some = waiting_.pop_some(std::min(left, kSome));
      }
      if (some.empty()) return;  // another thread took them
      for (const T& found : some) visit(found);
      left -= some.size();
    }
  }

  /// Ends all waiting for room.
  void stop_waiting() noexcept { nobody_takes_.store(true, std::memory_order_relaxed); }

  std::uint64_t dropped() {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  static constexpr std::size_t kSome = 64, kHandedOut = std::size_t{1} << 20;  ///< typical memory for kSome

  bool can_wait_;
  std::atomic<bool> nobody_takes_{false};
  std::mutex mutex_;
  FindingList<T> waiting_{kCapacity, kBytes};
  std::uint64_t dropped_ = 0;
};

using EventQueue = FindingQueue<Event>;

}  // namespace parshall
