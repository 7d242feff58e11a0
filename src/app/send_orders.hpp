// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "traffic/sender.hpp"

namespace parshall::cli {

/// Passes the user's changes to the thread that sends.
class SendOrders {
 public:
  void set_rate(const SendRate& rate);
  void set_source(std::unique_ptr<PacketSource> source);
  void set_paused(bool paused) noexcept { paused_.store(paused, std::memory_order_relaxed); }

  /// Carries out the orders; called by the sending thread before each step. Returns how many packets it may send.
  std::size_t carry_out(Sender& sender) noexcept;

 private:
  std::atomic<bool> any_{false}, paused_{false};
  bool was_paused_ = false;  ///< used by the sending thread only
  std::mutex mutex_;
  std::optional<SendRate> rate_;
  std::unique_ptr<PacketSource> source_;
};

/// Reads lines from standard input without ever waiting.
class Prompt {
 public:
  /// Returns the next line, or nullopt if none is complete.
  std::optional<std::string> line();
  bool ended() const noexcept { return ended_; }

 private:
  std::string text_;
  bool ended_ = false;
};

}  // namespace parshall::cli
