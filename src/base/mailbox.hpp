// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <memory>
#include <utility>

namespace parshall {

/// Passes the latest value from one thread to another, which polls for it. A newer value replaces an unread one.
template <class T>
class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() { delete waiting_.load(); }

  void leave(T value) { delete waiting_.exchange(new T(std::move(value)), std::memory_order_acq_rel); }

  /// Returns the value, or null if there is no new one.
  std::unique_ptr<T> take() noexcept {
    return std::unique_ptr<T>(waiting_.exchange(nullptr, std::memory_order_acquire));
  }

 private:
  std::atomic<T*> waiting_{nullptr};
};

}  // namespace parshall
