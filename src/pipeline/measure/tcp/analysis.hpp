// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

#include "pipeline/measure/tcp/connection.hpp"

namespace parshall {

/// Findings on a packet from its connection's history.
struct TcpFinding {
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  TcpMarks marks;
  bool rtt_ambiguous = false;    ///< the segment was sent more than once, and it is unknown which copy was acknowledged
  std::uint64_t rtt_ns = kNone;  ///< time since the segment that the packet acknowledges
  std::uint64_t handshake_ns = kNone;  ///< time since the SYN, if the packet ends the handshake
};

/// Analyses the next packet sent by `connection.sender[from]`. `finding` must be as constructed.
///
/// Error:  limited to what a capture point can know. Losses before it look like reordering, and the reverse, so time
///         decides (20 ms for fast retransmissions; the handshake's round trip, or 3 ms, for reordering).
/// Source: the rules of Wireshark's sequence number analysis as its user's guide states them (section 7.5, "TCP
///         Analysis"); round-trip times by Karn's rule, with RFC 7323 time stamps where they resolve an ambiguity.
///         docs/accuracy.md lists differences to Wireshark and tcptrace.
void analyse_tcp(TcpConnection& connection, std::size_t from, const TcpFacts& tcp, std::uint16_t flags,
                 std::uint64_t time_ns, SegmentPool& segments, TcpFinding& finding) noexcept;

/// Takes an acknowledgement of the segments in `sent`, whose sender's numbers were acknowledged up to `last_ack` (0:
/// none yet), and sets the round-trip time of `finding`. All numbers are relative to the sender's first.
void take_ack(std::uint32_t ack, std::uint32_t ts_echo, std::uint32_t last_ack, std::uint64_t time_ns, SegmentList sent,
              SegmentPool& segments, TcpFinding& finding) noexcept;

}  // namespace parshall
