// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "base/clock.hpp"
#include "engine/arrivals.hpp"
#include "engine/housekeeping.hpp"
#include "engine/worker.hpp"

namespace parshall {
namespace {

constexpr std::size_t kFewPackets = 64;
constexpr std::chrono::microseconds kGather{10};  ///< 149 packets at 10 GbE line rate; a queue holds 4096
/// Waits for a few packets to gather. An underloaded worker takes packets one by one, and each then costs several times
/// as much, which would say nothing about its capacity.
void gather() noexcept {
  const auto until = std::chrono::steady_clock::now() + kGather;
  while (std::chrono::steady_clock::now() < until) cpu_pause();
}

}  // namespace

/// Processes a batch in a thread that runs both stages.
void Workers::process(std::size_t index, std::span<const RawPacket> packets, InFlight& staging) noexcept {
  if (markers_[index]) return markers_[index]->pass_on(*lanes_[index], *stages_[index], packets);
  if (options_.model == ThreadModel::run_to_completion) return stages_[index]->run(lanes_[index]->front(), packets);
  hand_over(*lanes_[index], packets, staging, {&rings_[index], 1});
  while (admit_batch(*stages_[index], *rings_[index])) {
  }
}

void Workers::work(std::size_t index) {
  Lane& lane = *lanes_[index];
  FlowStage& stage = *stages_[index];
  const bool controlled = stage.control() != nullptr;
  const auto staging = std::make_unique<InFlight>();
  Idle idle(options_.busy_poll);
  Arrivals arrivals({&lanes_[index], 1});
  while (!stop_.load(std::memory_order_relaxed)) {
    const std::span<const RawPacket> packets = lane.poll();
    if (!packets.empty()) {
      process(index, packets, *staging);
      idle.reset();
    } else {
      stage.drain();
      if (lane.done()) break;
      arrivals.wait(idle);
    }
    lane.publish(/*last=*/false);
    if (controlled && stage.control_window_ends(lane.link())) stage.end_control_window(lane.link(), lane.load());
    if (!keep_house(stage, lane.link(), packets.empty()) && packets.empty()) idle.stay_awake();
    if (controlled && !packets.empty() && packets.size() < std::min(kFewPackets, lane.batch() / 4)) {
      lane.rest();
      gather();
    }
  }
  if (stop_.load(std::memory_order_relaxed) && lane.end_intake())
    for (auto packets = lane.poll_waiting(); !packets.empty(); packets = lane.poll_waiting())
      process(index, packets, *staging);
  level_out(index, *staging);
  stage.drain();
  const std::uint64_t last_ns = stage.finish(lane.link());
  lane.publish(/*last=*/true);
  leave(index, last_ns);
}

}  // namespace parshall
