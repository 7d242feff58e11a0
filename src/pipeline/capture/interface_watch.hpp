// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// Watches the state of the captured interfaces, even if they are renamed. It checks only while no packets come.
///
/// Cost:   one clock reading per call, three system calls each 100 ms.
/// Source: packet_notifier() in Linux's af_packet.c: a socket of an unregistered interface has index -1.
class InterfaceWatch {
 public:
  /// Watches the interface that the packet socket, which must live as long, is bound to, or `several` by their indices.
  explicit InterfaceWatch(int socket, std::vector<int> several = {});

  /// Checks the state. Only one thread may call it.
  void look() noexcept;

  /// Returns the state: down includes a missing carrier; gone means deleted or moved to another network namespace. Of
  /// several interfaces, returns the best state. Any thread.
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

/// Makes the error for an interface that is gone.
Error interface_gone(const std::string& name);

}  // namespace parshall
