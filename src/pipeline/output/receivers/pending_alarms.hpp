// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace parshall {

/// Messages about alarms that a receiver has not taken yet, oldest first.
///
/// Memory: kBytes, and some more for each of kMost messages.
/// Full:   new messages are dropped and counted.
class PendingAlarms {
 public:
  static constexpr std::size_t kMost = 10'000, kBytes = std::size_t{8} << 20;

  void push(std::string message) {
    if (messages_.size() == kMost || bytes_ + message.size() > kBytes) {
      ++dropped_;
      return;
    }
    bytes_ += message.size();
    messages_.push_back(std::move(message));
  }
  /// Removes the first `count` messages.
  void pop(std::size_t count = 1) {
    for (; count > 0; --count) {
      bytes_ -= messages_.front().size();
      messages_.pop_front();
    }
  }

  const std::deque<std::string>& messages() const noexcept { return messages_; }
  bool empty() const noexcept { return messages_.empty(); }
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  std::deque<std::string> messages_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace parshall
