// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <poll.h>

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "engine/lane.hpp"
#include "engine/threads.hpp"

namespace parshall {

/// Lets the thread that reads these lanes sleep until a packet comes to one of them.
class Arrivals {
 public:
  /// Longest sleep, within which timeouts, windows, requests and stops are noticed.
  static constexpr std::chrono::milliseconds kLongest{20};

  explicit Arrivals(std::span<const std::unique_ptr<Lane>> lanes);

  /// Waits as `idle` does. If it comes to sleeping and the kernel can signal packets on all lanes, returns at the next
  /// packet or after kLongest.
  void wait(Idle& idle) noexcept {
    if (waits_.empty()) return idle.wait();
    idle.wait([this] { sleep(); });
  }

 private:
  void sleep() noexcept;

  std::span<const std::unique_ptr<Lane>> lanes_;
  std::vector<pollfd> waits_;  ///< empty if a lane has no descriptor
};

}  // namespace parshall
