// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Why a record ended. Source: RFC 7011 flowEndReason (information element 136), same order.
enum class EndReason : std::uint8_t {
  none,  ///< the flow is still in the table
  idle_timeout,
  active_timeout,
  end_of_flow,
  forced_end,
  lack_of_resources,  ///< evicted: the table was full
};

inline constexpr std::string_view kEndReasonNames[] = {"", "idle", "active", "end_of_flow", "forced", "evicted"};

/// A flow's exact counters, put together from all that a table keeps of it.
struct FlowRecord {
  FlowKey key;
  std::uint64_t packets = 0;
  std::uint64_t ip_bytes = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint16_t tcp_flags = 0;
  EndReason end_reason = EndReason::none;
};

}  // namespace parshall
