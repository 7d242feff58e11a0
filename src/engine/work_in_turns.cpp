// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/worker.hpp"

namespace parshall {

/// Works in turns. Counts available packets first, since other workers may wait for their room.
void Workers::work_in_turns(std::size_t index) {
  Lane& lane = *lanes_[index];
  FlowStage& stage = *stages_[index];
  const auto staging = std::make_unique<InFlight>();
  Turns::Reader reader{.worker = index};
  Idle idle(options_.busy_poll);
  while (!turns_->is_at_end(reader)) {
    if (stop_.load(std::memory_order_relaxed)) turns_->close();
    if (const Turns::Part* const part = turns_->take(reader)) {
      if (idle.waiting()) lane.work();
      stage.admit(part->facts(), part->places(), part->tcp());
      turns_->release(reader);
      stage.housekeep(reader.link);
      idle.reset();
      continue;
    }
    std::span<const RawPacket> packets;
    const auto poll = [&] { return !(packets = lane.poll()).empty(); };
    if (Turns::Turn* const turn = turns_->begin(poll, [&] { return lane.done(); })) {
      decode(lane, packets, *staging, *turn);
      turns_->publish(*turn);
      lane.publish(/*last=*/false);
      idle.reset();
      continue;
    }
    stage.housekeep(reader.link);
    if (!idle.waiting()) lane.rest();
    idle.wait();
  }
  stage.drain();
  const std::uint64_t last_ns = stage.finish(reader.link);
  lane.publish(/*last=*/true);
  leave(index, last_ns);
}

/// Decodes several groups at a time: memory just written in parts cannot be read as a whole without a stall.
void Workers::decode(Lane& lane, std::span<const RawPacket> packets, InFlight& staging, Turns::Turn& turn) noexcept {
  constexpr std::size_t kTogether = 8 * kGroup;
  const auto workers = static_cast<std::uint32_t>(lanes_.size());
  while (!packets.empty()) {
    const std::span<const RawPacket> some = packets.first(std::min(kTogether, packets.size()));
    packets = packets.subspan(some.size());
    for (std::size_t at = 0; at < some.size(); at += kGroup)
      lane.front().accept(some.subspan(at, std::min(kGroup, some.size() - at)), staging);
    while (staging.size() != 0) {
      const std::span<const PacketFacts> facts = staging.oldest(staging.size());
      for (std::size_t i = 0; i < facts.size(); ++i)
        turn.add(facts[i], staging.tcp(i), Partition::index_of(lane.front().partition_hash(facts[i]), workers));
      staging.pop(facts.size());
    }
  }
}

}  // namespace parshall
