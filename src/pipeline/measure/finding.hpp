// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/measure/tcp/analysis.hpp"

namespace parshall {

/// What has to be found out about packets, beyond their counts.
struct FindingNeeds {
  bool iat = false;
  bool tcp = false;          ///< takes flows of five-tuples
  bool rtt_history = false;  ///< takes tcp; then of all flows that are followed

  bool any() const noexcept { return iat || tcp; }
  void add(FindingNeeds other) noexcept {
    iat = iat || other.iat, tcp = tcp || other.tcp, rtt_history = rtt_history || other.rtt_history;
  }
  friend bool operator==(const FindingNeeds&, const FindingNeeds&) = default;
};

/// What was found out about one packet, from what its flow did before: once, for all windows and tasks.
struct PacketFinding {
  static constexpr std::uint64_t kNone = TcpFinding::kNone;

  std::uint8_t state = 0;             ///< the flow's monitoring state
  std::uint8_t effective_state = 0;   ///< whose measures see the packet: the same, or a lighter one
  std::uint8_t effective_before = 0;  ///< and saw the flow's packet before
  std::uint8_t weight = 0;            ///< the flow's (FlowWeight), by which who looks at it is chosen
  bool is_tcp = false;                ///< of a connection: `tcp` and payload_bytes mean something
  TcpFinding tcp;
  std::uint32_t payload_bytes = 0;
  std::uint64_t iat_ns = kNone;  ///< since the flow's last packet; 0 where it is late; none for the first
  RttHistory rtts_before;        ///< of the flow, where FindingNeeds::rtt_history and the packet gave one
};

}  // namespace parshall
