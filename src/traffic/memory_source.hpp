// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include "pipeline/capture/source.hpp"
#include "traffic/conversation_rounds.hpp"
#include "traffic/flow_trains.hpp"
#include "traffic/syn_flood.hpp"
#include "traffic/traffic.hpp"

namespace parshall {

/// Plays a trace from memory repeatedly, until `limit` packets: the cheapest source.
class MemorySource final : public PacketSource {
 public:
  /// Time stamps start at `first_ns` and advance at the trace's rate, across repetitions too.
  MemorySource(std::shared_ptr<const Trace> trace, std::uint64_t limit, std::uint64_t first_ns = 0)
      : trace_(std::move(trace)),
        flood_(trace_),
        trains_(trace_),
        rounds_(trace_),
        left_(limit),
        step_(trace_->time_step()),
        time_ns_(first_ns) {}

  std::size_t poll(std::span<RawPacket> out) noexcept override {
    const std::size_t count = std::min<std::uint64_t>({out.size(), left_, trace_->packets() - next_});
    const std::uint64_t from_ns = time_ns_, step = step_;
    std::uint64_t elapsed = fraction_;
    trace_->put_into(out.first(count), next_, [&] {
      const std::uint64_t now_ns = from_ns + elapsed / kUnit;
      elapsed += step;
      return now_ns;
    });
    time_ns_ += elapsed / kUnit;
    fraction_ = elapsed % kUnit;
    left_ -= count;
    flood_.put_into(out.first(count), played_);
    trains_.put_into(out.first(count), played_);
    rounds_.put_into(out.first(count), played_);
    played_ += count;
    next_ = next_ + count == trace_->packets() ? 0 : next_ + count;
    return count;
  }

  bool exhausted() const noexcept override { return left_ == 0; }

 private:
  static constexpr std::uint64_t kUnit = Trace::kTimeUnit;

  std::shared_ptr<const Trace> trace_;
  SynFlood flood_;
  FlowTrains trains_;
  ConversationRounds rounds_;
  std::uint64_t left_;
  std::uint64_t step_;
  std::uint64_t time_ns_;
  std::uint64_t fraction_ = 0;
  std::uint64_t next_ = 0, played_ = 0;
};

}  // namespace parshall
