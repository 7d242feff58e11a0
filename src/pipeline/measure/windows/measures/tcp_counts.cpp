// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/windows/measures/tcp_counts.hpp"

namespace parshall {
namespace {

class TcpCounter final : public FlowMeasure {
 public:
  std::string name() const override { return "tcp counts"; }
  std::size_t row_bytes() const noexcept override { return sizeof(TcpCounts); }
  FindingNeeds needs() const noexcept override { return {.tcp = true}; }

  void update(std::span<std::byte* const> rows, std::span<const PacketFinding* const> packets) const noexcept override {
    for (std::size_t i = 0; i < packets.size(); ++i) {
      const PacketFinding& packet = *packets[i];
      if (!packet.is_tcp) continue;
      auto& counts = *reinterpret_cast<TcpCounts*>(rows[i]);
      ++counts.packets;
      counts.data_packets += packet.payload_bytes != 0;
      counts.payload_bytes += packet.payload_bytes;
      for (std::uint32_t bits = packet.tcp.marks.bits(); bits != 0; bits &= bits - 1)
        ++counts.marked[static_cast<std::size_t>(std::countr_zero(bits))];
    }
  }
};
static_assert(sizeof(TcpCounts) % 8 == 0);

}  // namespace

std::shared_ptr<const FlowMeasure> TcpCounts::measure() { return std::make_shared<TcpCounter>(); }

}  // namespace parshall
