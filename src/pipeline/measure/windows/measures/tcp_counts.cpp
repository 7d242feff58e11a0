// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/windows/measures/tcp_counts.hpp"

namespace parshall {
namespace {

class TcpVolumes final : public FlowMeasure {
 public:
  std::string name() const override { return "tcp volume"; }
  std::size_t row_bytes() const noexcept override { return sizeof(TcpVolume); }
  FindingNeeds needs() const noexcept override { return {.tcp = true}; }

  void update(const MeasureBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const PacketFinding& packet = batch.packet(i);
      auto& volume = batch.part<TcpVolume>(i);
      volume.packets += packet.is_tcp;
      volume.data_packets += packet.payload_bytes != 0;
      volume.payload_bytes += packet.payload_bytes;
    }
  }
};

class MarkCounter final : public FlowMeasure {
 public:
  std::string name() const override { return "tcp marks"; }
  std::size_t row_bytes() const noexcept override { return sizeof(TcpCounts); }
  FindingNeeds needs() const noexcept override { return {.tcp = true}; }
  MeasuredPackets packets() const noexcept override { return MeasuredPackets::with_mark; }
  bool is_rare() const noexcept override { return true; }

  void update(const MeasureBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      auto& counts = batch.part<TcpCounts>(i);
      for (std::uint32_t bits = batch.packet(i).tcp.marks.bits(); bits != 0; bits &= bits - 1)
        ++counts.marked[static_cast<std::size_t>(std::countr_zero(bits))];
    }
  }
};
static_assert(sizeof(TcpVolume) % 8 == 0 && sizeof(TcpCounts) % 8 == 0);

}  // namespace

std::shared_ptr<const FlowMeasure> TcpVolume::measure() { return std::make_shared<TcpVolumes>(); }
std::shared_ptr<const FlowMeasure> TcpCounts::measure() { return std::make_shared<MarkCounter>(); }

}  // namespace parshall
