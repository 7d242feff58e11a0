// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "generate/sender.hpp"

namespace parshall::cli {

/// What the user changes while frames are sent, handed from one thread to the one that sends.
class SendOrders {
 public:
  void set_rate(const SendRate& rate);
  void set_source(std::unique_ptr<PacketSource> source);
  void set_paused(bool paused) noexcept { paused_.store(paused, std::memory_order_relaxed); }

  /// By the thread that sends, before each step: how many packets it may send.
  std::size_t carry_out(Sender& sender) noexcept;

 private:
  std::atomic<bool> any_{false}, paused_{false};
  bool was_paused_ = false;  ///< of the thread that sends
  std::mutex mutex_;
  std::optional<SendRate> rate_;
  std::unique_ptr<PacketSource> source_;
};

/// Reads standard input, as far as there is any, a line at a time; never waits.
class Prompt {
 public:
  /// The next line; nothing while none is whole.
  std::optional<std::string> line();
  bool ended() const noexcept { return ended_; }

 private:
  std::string text_;
  bool ended_ = false;
};

}  // namespace parshall::cli
