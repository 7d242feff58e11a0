// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>

#include "engine/arrivals.hpp"
#include "engine/housekeeping.hpp"
#include "engine/worker.hpp"

namespace parshall {
namespace {

constexpr std::size_t kRingBatch = 256;

}  // namespace

/// Passes one batch to the rings. If a ring is full, a source that can wait does so; for any other, the packet is
/// dropped.
void Workers::hand_over(Lane& lane, std::span<const RawPacket> packets, InFlight& staging,
                        std::span<const std::unique_ptr<FactsRing>> rings) noexcept {
  for (std::size_t at = 0; at < packets.size(); at += kGroup) {
    lane.front().accept(packets.subspan(at, std::min(kGroup, packets.size() - at)), staging);
    while (staging.size() != 0) {
      const auto group = staging.oldest(staging.size());
      for (std::size_t i = 0; i < group.size(); ++i) {
        const std::size_t to =
            Partition::index_of(lane.front().partition_hash(group[i]), static_cast<std::uint32_t>(rings.size()));
        LinkPlace place = staging.place(i);
        place.latest_ns = lane.note_time(std::max(place.latest_ns, group[i].time_ns));
        while (!rings[to]->stage(group[i], place, staging.tcp(i))) {
          for (const auto& ring : rings) ring->flush();  // stages may be waiting for packets that were not flushed
          if (!lane.lossless()) {
            lane.note_ring_full(1);
            break;
          }
          publish_handed(place);  // an idle stage must know the link's position, since others may wait for its report
          ::sched_yield();
        }
      }
      staging.pop(group.size());
    }
  }
  for (const auto& ring : rings) ring->flush();
}

/// Publishes that all packets before are in the rings. The position never decreases: several lanes may feed them.
void Workers::publish_handed(LinkPlace link) noexcept {
  handed_position_.store(std::max(link.position, handed_position_.load(std::memory_order_relaxed)),
                         std::memory_order_release);
  handed_ns_.store(std::max(link.latest_ns, handed_ns_.load(std::memory_order_relaxed)), std::memory_order_release);
}

bool Workers::admit_batch(FlowStage& stage, FactsRing& ring) noexcept {
  const auto facts = ring.readable(kRingBatch);
  if (facts.empty()) return false;
  stage.admit(facts, ring.places(facts.size()), ring.tcp(facts.size()));
  ring.release(facts.size());
  return true;
}

void Workers::receive(std::size_t) {
  std::vector<std::unique_ptr<InFlight>> staging;
  for (std::size_t i = 0; i < lanes_.size(); ++i) staging.push_back(std::make_unique<InFlight>());
  Idle idle(options_.busy_poll);
  Arrivals arrivals(lanes_);
  while (!stop_.load(std::memory_order_relaxed)) {
    bool any = false, all_done = true;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      Lane& lane = *lanes_[i];
      const std::span<const RawPacket> packets = lane.poll();
      hand_over(lane, packets, *staging[i], rings_);
      const bool busy = !packets.empty();
      any |= busy;
      all_done &= !busy && lane.done();
      lane.publish(/*last=*/false);
    }
    LinkPlace link;
    for (const auto& lane : lanes_) {
      link.position = std::max(link.position, lane->link().position);
      link.latest_ns = std::max(link.latest_ns, lane->link().latest_ns);
    }
    publish_handed(link);
    if (all_done) break;
    if (any)
      idle.reset();
    else
      arrivals.wait(idle);
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = *lanes_[i];
    if (!stop_.load(std::memory_order_relaxed) || !lane.end_intake()) continue;
    for (auto packets = lane.poll_waiting(); !packets.empty(); packets = lane.poll_waiting())
      hand_over(lane, packets, *staging[i], rings_);
    publish_handed(lane.link());
  }
  for (const auto& lane : lanes_) lane->publish(/*last=*/true);
  receiving_.store(false, std::memory_order_release);
  for (const auto& ring : rings_) ring->wake();
}

void Workers::run_stage(std::size_t index) {
  FlowStage& stage = *stages_[index];
  FactsRing& ring = *rings_[index];
  BusyClock& clock = stage_clocks_[index];
  Idle idle(options_.busy_poll);
  LinkPlace now;
  clock.begin();
  for (;;) {
    const bool last_round = !receiving_.load(std::memory_order_acquire);  // must be read before the ring, like the next
                                                                          // two
    const std::uint64_t handed_ns = handed_ns_.load(std::memory_order_acquire);
    const LinkPlace handed{handed_position_.load(std::memory_order_acquire), handed_ns};
    now = {};
    const bool has_worked = admit_batch(stage, ring);
    if (has_worked) {
      idle.reset();
    } else {
      now = handed;
      stage.drain();
      if (last_round) break;
      idle.wait([&ring] { ring.sleep(Arrivals::kLongest); });
    }
    if (!keep_house(stage, now, !has_worked)) idle.stay_awake();
    clock.end_round(has_worked);  // includes the nap of an idle round
  }
  clock.end_round(/*was_work=*/false);
  leave(index, stage.finish(now));
}

}  // namespace parshall
