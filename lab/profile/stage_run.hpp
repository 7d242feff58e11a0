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

/// Runs one worker's stage on packets from memory, repeated with advancing time.
class StageRun {
 public:
  static constexpr std::size_t kMaxBatch = 4096;

  /// `source` never ends; `batch` is at most kMaxBatch.
  StageRun(std::unique_ptr<FlowStage> stage, const FlowIdentity& identity, std::unique_ptr<PacketSource> source,
           std::size_t batch, TcpWishes tcp = {})
      : stage_(std::move(stage)),
        front_(IpHeader::outermost, identity, Partition{}, std::nullopt, tcp),
        source_(std::move(source)),
        batch_(batch) {}

  void run(std::size_t packets) {
    for (std::size_t count; packets != 0; packets -= count) count = run_batch(packets);
  }

  /// Processes at most `most` packets; returns how many.
  std::size_t run_batch(std::size_t most) {
    const std::size_t count = source_->poll({descriptors_.data(), std::min(most, batch_)});
    if (stage_ != nullptr) {
      stage_->run(front_, {descriptors_.data(), count});
      stage_->housekeep({});
      stage_->ended().drain([](std::span<const std::byte>) {});
    }
    given_ += count;
    return count;
  }

  /// Returns the counts of all packets so far, after draining. Requires a stage.
  StageCounts counts() {
    stage_->drain();
    stage_->ended().drain([](std::span<const std::byte>) {});
    return stage_->counts();
  }
  /// Passes on the worker's window messages so far, without rows.
  template <class Take>
  void take_window_messages(Take take) {
    stage_->window_messages().drain([&](std::span<const std::byte> message) {
      if (!take_rows(message, [](const FlowWindow&) {})) take(message);
    });
  }
  /// Ends a window of the controller; requires one.
  void end_control_window(const WorkerLoad& load) { stage_->end_control_window({}, load); }
  std::vector<StatePackets> state_packets() const { return stage_->state_packets(); }

  /// Ends the open windows; the input is at its end then.
  void finish() { stage_->finish({}); }

  const FrontEndCounts& front() const noexcept { return front_.counts(); }
  std::uint64_t given() const noexcept { return given_; }

 private:
  std::unique_ptr<FlowStage> stage_;  ///< null: packets are only polled
  FrontEnd front_;
  std::unique_ptr<PacketSource> source_;
  std::size_t batch_;
  std::uint64_t given_ = 0;
  std::array<RawPacket, kMaxBatch> descriptors_;
};

}  // namespace parshall::lab
