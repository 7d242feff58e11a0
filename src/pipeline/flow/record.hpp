// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Reason why a record ended. Source: RFC 7011 flowEndReason (information element 136), same order.
enum class EndReason : std::uint8_t {
  none,  ///< the flow is still in the table
  idle_timeout,
  active_timeout,
  end_of_flow,
  forced_end,
  lack_of_resources,  ///< evicted: the table was full
};

inline constexpr std::string_view kEndReasonNames[] = {"", "idle", "active", "end_of_flow", "forced", "evicted"};

/// Exact counters of a flow, assembled from all that a table keeps of it. The record of a biflow (RFC 5103) has the
/// initiator's key and counts, and the reverse counts; its times cover both directions.
struct FlowRecord {
  FlowKey key;
  std::uint64_t packets = 0;
  std::uint64_t ip_bytes = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t reverse_packets = 0;  ///< 0 unless it is a biflow
  std::uint64_t reverse_ip_bytes = 0;
  std::uint64_t reverse_wire_bytes = 0;
  std::uint16_t tcp_flags = 0;
  std::uint16_t reverse_tcp_flags = 0;
  EndReason end_reason = EndReason::none;
  bool knows_initiator = false;  ///< for a biflow: whether the key's source is known to be the initiator

  // Sums of both directions, as used in the account.
  std::uint64_t all_packets() const noexcept { return packets + reverse_packets; }
  std::uint64_t all_ip_bytes() const noexcept { return ip_bytes + reverse_ip_bytes; }
  std::uint64_t all_wire_bytes() const noexcept { return wire_bytes + reverse_wire_bytes; }
};

}  // namespace parshall
