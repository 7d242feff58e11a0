// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <memory>

#include "generate/sender.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// What a sender sends, as a source's packets: who polls it sends, and counts what was sent.
class SendingSource final : public PacketSource {
 public:
  /// `sender` shows what it sends. `between`: called before each step.
  SendingSource(std::shared_ptr<Sender> sender, std::function<void(Sender&)> between)
      : sender_(std::move(sender)), between_(std::move(between)) {}

  std::size_t poll(std::span<RawPacket> out) noexcept override {
    between_(*sender_);
    const std::size_t count = sender_->step(out.size());
    std::ranges::copy(sender_->sent(), out.begin());
    return count;
  }
  bool exhausted() const noexcept override { return sender_->finished(); }

 private:
  std::shared_ptr<Sender> sender_;
  std::function<void(Sender&)> between_;
};

}  // namespace parshall
