// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <span>

#include "pipeline/capture/source.hpp"
#include "traffic/sender.hpp"

namespace parshall {

/// Source whose packets are the frames that a sender sends: polling it sends, and returns what was sent.
class SendingSource final : public PacketSource {
 public:
  /// `sender` must show what it sends. `most` is called before each step and returns how many packets it may send.
  SendingSource(std::shared_ptr<Sender> sender, std::function<std::size_t(Sender&)> most)
      : sender_(std::move(sender)), most_(std::move(most)) {}

  std::size_t poll(std::span<RawPacket> out) noexcept override {
    const std::size_t count = sender_->step(std::min(out.size(), most_(*sender_)));
    std::ranges::copy(sender_->sent(), out.begin());
    return count;
  }
  bool exhausted() const noexcept override { return sender_->finished(); }

 private:
  std::shared_ptr<Sender> sender_;
  std::function<std::size_t(Sender&)> most_;
};

}  // namespace parshall
