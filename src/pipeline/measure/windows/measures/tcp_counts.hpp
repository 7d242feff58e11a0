// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>

#include "pipeline/measure/windows/flow_measure.hpp"

namespace parshall {

/// Packets of a flow that belong to a TCP connection, and their data.
struct TcpVolume {
  std::uint64_t payload_bytes;
  std::uint32_t packets, data_packets;

  static std::shared_ptr<const FlowMeasure> measure();
};

/// Packets of a flow by TcpMark.
struct TcpCounts {
  static constexpr std::size_t kMarks = 14;

  std::array<std::uint32_t, kMarks> marked;  ///< indexed by the mark's bit

  std::uint32_t of(TcpMark mark) const noexcept {
    return marked[static_cast<std::size_t>(std::countr_zero(static_cast<std::uint16_t>(mark)))];
  }

  static std::shared_ptr<const FlowMeasure> measure();
};

}  // namespace parshall
