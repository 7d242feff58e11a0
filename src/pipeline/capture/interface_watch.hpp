// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// What has become of the interfaces that are captured, whatever they are called by now. Looks only while nothing
/// comes.
///
/// Cost:   a reading of the clock each time, three system calls each 100 ms.
/// Source: packet_notifier() of Linux's af_packet.c: of an interface that is unregistered the socket has number -1.
class InterfaceWatch {
 public:
  /// Watches what the packet socket, which lives as long, is bound to; or `several` interfaces, by their numbers.
  explicit InterfaceWatch(int socket, std::vector<int> several = {});

  /// By one thread.
  void look() noexcept;

  /// Down: also without a carrier. Gone: deleted, or in another network namespace. Of several interfaces, what the best
  /// of them is. Any thread.
  InputState state() const noexcept { return state_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;

  InputState now() const noexcept;

  int socket_;
  std::vector<int> several_;
  Clock::time_point next_look_;
  std::atomic<InputState> state_;
};

/// Returns the state of the interface that the kernel calls `index`. `socket`: any.
InputState state_of_interface(int socket, int index) noexcept;

/// Returns the message for one that is gone.
Error interface_gone(const std::string& name);

}  // namespace parshall
