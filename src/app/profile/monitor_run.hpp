// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/flow_stage.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall::lab {

/// Runs one worker's monitor on packets from memory, repeated with advancing time.
class MonitorRun {
 public:
  static constexpr std::size_t kMaxBatch = 4096;

  /// `source` never ends; `batch` is at most kMaxBatch.
  MonitorRun(std::unique_ptr<FlowStage> monitor, const FlowIdentity& identity, std::unique_ptr<PacketSource> source,
             std::size_t batch, TcpWishes tcp = {})
      : monitor_(std::move(monitor)),
        front_(IpHeader::outermost, identity, Share{}, std::nullopt, tcp),
        source_(std::move(source)),
        batch_(batch) {}

  void run(std::size_t packets) {
    for (std::size_t count; packets != 0; packets -= count) count = run_batch(packets);
  }

  /// Processes at most `most` packets; returns how many.
  std::size_t run_batch(std::size_t most) {
    const std::size_t count = source_->poll({descriptors_.data(), std::min(most, batch_)});
    if (monitor_ != nullptr) {
      monitor_->run(front_, {descriptors_.data(), count});
      monitor_->housekeep({});
      monitor_->ended().drain([](std::span<const std::byte>) {});
    }
    given_ += count;
    return count;
  }

  /// Returns the counts of all packets so far, after draining. Requires a monitor.
  MonitorCounts counts() {
    monitor_->drain();
    monitor_->ended().drain([](std::span<const std::byte>) {});
    return monitor_->counts();
  }
  /// Passes on the worker's window messages so far.
  template <class Take>
  void take_window_messages(Take take) {
    monitor_->window_messages().drain(take);
  }
  /// Ends a window of the controller; requires one.
  void end_control_window(const WorkerLoad& load) { monitor_->end_control_window({}, load); }
  std::vector<StatePackets> state_packets() const { return monitor_->state_packets(); }

  /// Ends the open windows; the input is at its end then.
  void finish() { monitor_->finish({}); }

  const FrontEndCounts& front() const noexcept { return front_.counts(); }
  std::uint64_t given() const noexcept { return given_; }

 private:
  std::unique_ptr<FlowStage> monitor_;  ///< null: packets are only polled
  FrontEnd front_;
  std::unique_ptr<PacketSource> source_;
  std::size_t batch_;
  std::uint64_t given_ = 0;
  std::array<RawPacket, kMaxBatch> descriptors_;
};

}  // namespace parshall::lab
