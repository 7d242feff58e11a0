// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <memory>
#include <utility>

namespace parshall {

/// What one thread leaves for another, which looks when it has time: the latest, if there were several.
template <class T>
class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() { delete waiting_.load(); }

  void leave(T value) { delete waiting_.exchange(new T(std::move(value)), std::memory_order_acq_rel); }

  /// Null where nothing new is there.
  std::unique_ptr<T> take() noexcept {
    return std::unique_ptr<T>(waiting_.exchange(nullptr, std::memory_order_acquire));
  }

 private:
  std::atomic<T*> waiting_{nullptr};
};

}  // namespace parshall
