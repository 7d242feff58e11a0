// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/measure/tcp/analysis.hpp"

namespace parshall {

/// Says what must be determined about packets beyond their counts.
struct FindingNeeds {
  bool iat = false;
  bool tcp = false;          ///< requires flows by five-tuple
  bool rtt_history = false;  ///< requires tcp; for all flows that are tracked

  bool any() const noexcept { return iat || tcp; }
  void add(FindingNeeds other) noexcept {
    iat = iat || other.iat, tcp = tcp || other.tcp, rtt_history = rtt_history || other.rtt_history;
  }
  friend bool operator==(const FindingNeeds&, const FindingNeeds&) = default;
};

/// Findings on one packet from its flow's history, made once for all windows and tasks.
struct PacketFinding {
  static constexpr std::uint64_t kNone = TcpFinding::kNone;

  std::uint8_t state = 0;             ///< the flow's monitoring state
  std::uint8_t effective_state = 0;   ///< state whose measures see the packet: the flow's own, or a lighter one
  std::uint8_t effective_before = 0;  ///< effective state at the flow's previous packet
  std::uint8_t weight = 0;            ///< the flow's weight class (FlowWeight), which decides which tasks see the flow
  bool is_tcp = false;                ///< true if it belongs to a connection, so that `tcp` and payload_bytes are valid
  TcpFinding tcp;
  std::uint32_t payload_bytes = 0;
  std::uint64_t iat_ns = kNone;  ///< since the flow's last packet; 0 if it is late; kNone for the first
  RttHistory rtts_before;        ///< history of the flow, if FindingNeeds::rtt_history and the packet has_round_trip()

  /// Returns whether it gave a round-trip time, and no doubt of which segment.
  bool has_round_trip() const noexcept { return tcp.rtt_ns != kNone && !tcp.rtt_ambiguous; }
};

}  // namespace parshall
