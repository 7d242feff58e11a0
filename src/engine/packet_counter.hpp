// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "engine/monitor.hpp"

namespace parshall {

/// Packet level: counts packets and bytes, decodes nothing, keeps no flows.
class PacketCounter final : public Monitor {
 public:
  void run(FrontEnd& front, std::span<const RawPacket> packets) noexcept override {
    for (const RawPacket& packet : packets) {
      if (!front.accept_undecoded(packet)) continue;
      ++counts_.counted;
      counts_.wire_bytes += packet.wire_bytes;
      counts_.first_ns = std::min(counts_.first_ns, packet.time_ns);
      counts_.last_ns = std::max(counts_.last_ns, packet.time_ns);
    }
  }
  void admit(std::span<const PacketFacts>, std::span<const LinkPlace>, std::span<const TcpFacts>) noexcept override {}
  void drain() noexcept override {}
  bool housekeep(LinkPlace) noexcept override {
    if (!wanted_.exchange(false, std::memory_order_acquire)) return false;
    snapshot_.counts = counts();
    ready_.store(true, std::memory_order_release);
    return false;
  }
  void finish(LinkPlace) noexcept override {}
  void request_snapshot(std::uint64_t number) noexcept override {
    snapshot_.number = number;
    ready_.store(false, std::memory_order_relaxed);
    wanted_.store(true, std::memory_order_release);
  }
  Snapshot* snapshot_ready() noexcept override { return ready_.load(std::memory_order_acquire) ? &snapshot_ : nullptr; }
  void request_statistics(StatisticChoice) override {}
  void visit(const FlowVisitor&) const override {}
  MonitorCounts counts() const noexcept override {
    MonitorCounts counts = counts_;
    counts.live_packets = counts.counted;
    return counts;
  }
  void stop_waiting() noexcept override {}
  std::uint64_t dropped_segments() const noexcept override { return 0; }
  const StageCost* cost(MeasureStage) const noexcept override { return nullptr; }
  std::vector<StatePackets> state_packets() const override { return {}; }
  StatisticChoice statistics() const override { return {}; }
  RecordRing& ended() noexcept override { return ended_; }
  RecordRing& window_messages() noexcept override { return ended_; }
  std::uint64_t observed_merges() const noexcept override { return 0; }

 private:
  MonitorCounts counts_;
  std::atomic<bool> wanted_{false}, ready_{false};
  Snapshot snapshot_;
  RecordRing ended_{64};
};

}  // namespace parshall
