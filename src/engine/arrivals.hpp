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

/// Lets the thread that reads these lanes sleep until one of them has a packet.
class Arrivals {
 public:
  /// Longest sleep: timeouts, windows, requests and stops are noticed within it.
  static constexpr std::chrono::milliseconds kLongest{20};

  explicit Arrivals(std::span<const std::unique_ptr<Lane>> lanes);

  /// Waits as `idle` does. Where it comes to sleeping, and the kernel tells of packets of all lanes, returns when a
  /// packet has come, and after kLongest.
  void wait(Idle& idle) noexcept {
    if (waits_.empty()) return idle.wait();
    idle.wait([this] { sleep(); });
  }

 private:
  void sleep() noexcept;

  std::span<const std::unique_ptr<Lane>> lanes_;
  std::vector<pollfd> waits_;  ///< none where a lane has no descriptor
};

}  // namespace parshall
