// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pipeline/decode/decode.hpp"
#include "pipeline/measure/labels/labeller.hpp"
#include "pipeline/measure/statistics/flow_label.hpp"

namespace parshall {

/// Sends the first packets of flows that get labels to the Labeller: those of one worker.
class LabelReader {
 public:
  LabelReader(std::shared_ptr<Labeller> labeller, IpHeader header, bool can_wait)
      : labeller_(std::move(labeller)), header_(header), can_wait_(can_wait) {}

  /// Returns whether any more packets of the flow have to be read.
  static bool is_open(const std::byte* state) noexcept { return FlowLabel::state_of(state).is_open; }

  /// Reads the next packet of an open flow. Packets of TCP and UDP without payload are left out.
  void read(std::byte* state, const RawPacket& packet) noexcept;

  /// Makes the packets that were read visible to the Labeller.
  void flush() noexcept {
    if (feed_ != nullptr) feed_->flush();
  }

  /// Waits for the label of a flow, if the source can wait.
  void wait_for(const std::byte* state) noexcept {
    if (feed_ != nullptr && FlowLabel::state_of(state).is_chosen) feed_->catch_up();
  }
  bool can_wait() const noexcept { return can_wait_; }

 private:
  std::shared_ptr<Labeller> labeller_;
  const IpHeader header_;
  const bool can_wait_;
  LabelFeed* feed_ = nullptr;  ///< null before the first packet that is sent
};

}  // namespace parshall
