// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <string>

#include "base/result.hpp"
#include "pipeline/capture/kernel_interface.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// What has become of an interface that is captured, whatever it is called by now. Looks only while nothing comes.
///
/// Cost: a reading of the clock each time, two system calls each 100 ms.
class InterfaceWatch {
 public:
  /// Of what a packet socket is bound to, which lives as long.
  explicit InterfaceWatch(int socket) noexcept;
  /// `link` lives as long.
  explicit InterfaceWatch(const LinkState& link) noexcept;

  /// By one thread.
  void look() noexcept;

  /// Down: also without a carrier. Gone: deleted, or in another network namespace. Any thread.
  InputState state() const noexcept { return state_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;

  InterfaceWatch(int socket, int index) noexcept;
  InputState now() const noexcept;

  int socket_, index_;
  Clock::time_point next_look_;
  std::atomic<InputState> state_;
};

/// What to say of one that is gone.
Error interface_gone(const std::string& name);

}  // namespace parshall
