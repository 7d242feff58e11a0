// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/windows/measures/round_trips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace parshall {
namespace {

class RoundTripTimes final : public FlowMeasure {
 public:
  std::string name() const override { return "round trips"; }
  std::size_t row_bytes() const noexcept override { return sizeof(RoundTrips); }
  FindingNeeds needs() const noexcept override { return {.tcp = true}; }
  MeasuredPackets packets() const noexcept override { return MeasuredPackets::with_round_trip; }

  void update(const MeasureBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const PacketFinding& packet = batch.packet(i);
      auto& trips = batch.part<RoundTrips>(i);
      if (packet.tcp.rtt_ambiguous) [[unlikely]] {
        ++trips.ambiguous;
        continue;
      }
      const std::uint64_t rtt_ns = packet.tcp.rtt_ns;
      trips.min_ns = trips.samples == 0 ? rtt_ns : std::min(trips.min_ns, rtt_ns);
      trips.max_ns = std::max(trips.max_ns, rtt_ns);
      trips.sum_ns += rtt_ns;
      ++trips.samples;
    }
  }
};

class Handshakes final : public FlowMeasure {
 public:
  std::string name() const override { return "handshakes"; }
  std::size_t row_bytes() const noexcept override { return sizeof(Handshake); }
  FindingNeeds needs() const noexcept override { return {.tcp = true}; }
  MeasuredPackets packets() const noexcept override { return MeasuredPackets::with_handshake; }
  bool is_rare() const noexcept override { return true; }

  void update(const MeasureBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i)
      batch.part<Handshake>(i).after_ns = batch.packet(i).tcp.handshake_ns + 1;
  }
};

class LatencyChange final : public FlowMeasure {
 public:
  LatencyChange(double beta, std::uint32_t after) : beta_(beta), after_(after) {}

  std::string name() const override { return fmt::format("latency changes beyond {} after {}", beta_, after_); }
  std::size_t row_bytes() const noexcept override { return sizeof(LatencyChanges); }
  FindingNeeds needs() const noexcept override { return {.tcp = true, .rtt_history = true}; }
  MeasuredPackets packets() const noexcept override { return MeasuredPackets::with_round_trip; }

  void update(const MeasureBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const PacketFinding& packet = batch.packet(i);
      const RttHistory& before = packet.rtts_before;
      if (packet.tcp.rtt_ambiguous || before.samples < after_) continue;
      const double off_ns = std::abs(static_cast<double>(packet.tcp.rtt_ns) - before.mean_ns);
      batch.part<LatencyChanges>(i).changes += off_ns > beta_ * before.stddev_ns();
    }
  }

 private:
  double beta_;
  std::uint32_t after_;
};

}  // namespace

std::shared_ptr<const FlowMeasure> Handshake::measure() { return std::make_shared<Handshakes>(); }
std::shared_ptr<const FlowMeasure> RoundTrips::measure() { return std::make_shared<RoundTripTimes>(); }

std::shared_ptr<const FlowMeasure> LatencyChanges::beyond(double beta, std::uint32_t after) {
  return std::make_shared<LatencyChange>(beta, after);
}

}  // namespace parshall
