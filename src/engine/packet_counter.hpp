// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "engine/flow_stage.hpp"

namespace parshall {

/// Counts packets and bytes only: decodes nothing, keeps no flows.
class PacketCounter final : public FlowStage {
 public:
  void run(FrontEnd& front, std::span<const RawPacket> packets) noexcept override {
    for (const RawPacket& packet : packets) {
      if (!front.accept_undecoded(packet)) continue;
      counts_.add(Counter::arrived, 1);
      counts_.add(Counter::wire_bytes, packet.wire_bytes);
      counts_.add(Counter::first_seen_ns, packet.time_ns);
      counts_.add(Counter::last_seen_ns, packet.time_ns);
    }
  }
  void admit(std::span<const PacketFacts>, std::span<const LinkPlace>, std::span<const TcpFacts>) noexcept override {}
  void drain() noexcept override {}
  bool housekeep(LinkPlace) noexcept override {
    publish(counts());
    if (!wanted_.exchange(false, std::memory_order_acquire)) return false;
    snapshot_.counts = counts();
    ready_.store(true, std::memory_order_release);
    return false;
  }
  std::uint64_t finish(LinkPlace now) noexcept override {
    publish(counts());
    return now.latest_ns;
  }
  void request_snapshot(std::uint64_t number) noexcept override {
    snapshot_.number = number;
    ready_.store(false, std::memory_order_relaxed);
    wanted_.store(true, std::memory_order_release);
  }
  Snapshot* snapshot_ready() noexcept override { return ready_.load(std::memory_order_acquire) ? &snapshot_ : nullptr; }
  void request_statistics(StatisticChoice) override {}
  void visit(const FlowVisitor&) const override {}
  StageCounts counts() const noexcept override {
    StageCounts counts = counts_;
    counts.set(Counter::live_flow_packets, counts[Counter::arrived]);
    return counts;
  }
  void stop_waiting() noexcept override {}
  std::uint64_t dropped_segments() const noexcept override { return 0; }
  const StageCost* cost(MeasuringPart) const noexcept override { return nullptr; }
  std::vector<StatePackets> state_packets() const override { return {}; }
  StatisticChoice statistics() const override { return {}; }
  RecordRing& ended() noexcept override { return ended_; }
  RecordRing& window_messages() noexcept override { return ended_; }
  std::uint64_t observed_merges() const noexcept override { return 0; }

 private:
  StageCounts counts_;
  std::atomic<bool> wanted_{false}, ready_{false};
  Snapshot snapshot_;
  RecordRing ended_{64};
};

}  // namespace parshall
