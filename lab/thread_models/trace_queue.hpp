// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "pipeline/capture/source.hpp"
#include "traffic/traffic.hpp"

namespace parshall::lab {

/// Built-in traffic as from a device that spreads flows over receive queues: no packet comes to two workers.
class SpreadTrace {
 public:
  SpreadTrace(std::shared_ptr<const Trace> trace, std::size_t queues) : trace_(std::move(trace)), order_(queues) {
    for (std::uint64_t i = 0; i < trace_->packets(); ++i)
      order_[SplitMix64::mix(trace_->flow_of(i)) % queues].push_back(static_cast<std::uint32_t>(i));
  }

  const Trace& trace() const noexcept { return *trace_; }
  std::size_t queues() const noexcept { return order_.size(); }

  /// Returns the packets of one queue, in order, by their number in the trace.
  const std::vector<std::uint32_t>& packets_of(std::size_t queue) const noexcept { return order_[queue]; }

  /// Returns how many of the first `packets` come to a queue when the trace is played repeatedly.
  std::uint64_t share_of(std::size_t queue, std::uint64_t packets) const noexcept {
    const auto& order = order_[queue];
    const auto rest = std::ranges::lower_bound(order, packets % trace_->packets()) - order.begin();
    return packets / trace_->packets() * order.size() + static_cast<std::uint64_t>(rest);
  }

 private:
  std::shared_ptr<const Trace> trace_;
  std::vector<std::vector<std::uint32_t>> order_;
};

/// One queue of the traffic, which waits for its reader.
class QueueOfTrace final : public PacketSource {
 public:
  /// Plays its part of the first `packets`; time stamps are those of the whole traffic, from `first_ns` on.
  QueueOfTrace(std::shared_ptr<const SpreadTrace> spread, std::size_t queue, std::uint64_t packets,
               std::uint64_t first_ns)
      : spread_(std::move(spread)),
        order_(&spread_->packets_of(queue)),
        left_(spread_->share_of(queue, packets)),
        step_(static_cast<std::uint64_t>(1e9 / spread_->trace().rate_pps() * kUnit)),
        round_ns_(first_ns) {}

  std::size_t poll(std::span<RawPacket> out) noexcept override {
    const std::size_t count = std::min<std::uint64_t>({out.size(), left_, order_->size() - next_});
    const Trace& trace = spread_->trace();
    for (RawPacket& packet : out.first(count)) {
      const std::uint64_t number = (*order_)[next_++];
      const std::uint32_t bytes = trace.frame_bytes(number);
      packet = {.data = trace.frame(number),
                .time_ns = round_ns_ + number * step_ / kUnit,
                .captured_bytes = bytes,
                .wire_bytes = bytes};
    }
    left_ -= count;
    if (next_ == order_->size()) {
      next_ = 0;
      round_ns_ += trace.packets() * step_ / kUnit;
    }
    return count;
  }

  bool exhausted() const noexcept override { return left_ == 0; }

 private:
  static constexpr std::uint64_t kUnit = 1 << 20;  ///< time advances in 1/kUnit ns

  std::shared_ptr<const SpreadTrace> spread_;
  const std::vector<std::uint32_t>* order_;
  std::uint64_t left_, step_, round_ns_;
  std::uint64_t next_ = 0;
};

}  // namespace parshall::lab
