// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

#include "pipeline/measure/tcp/connection.hpp"

namespace parshall {

/// What a packet says about its connection, as far as it went before.
struct TcpFinding {
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  TcpMarks marks;
  bool rtt_ambiguous = false;          ///< the segment had been sent more than once, and nothing tells which it was
  std::uint64_t rtt_ns = kNone;        ///< from the segment that the packet acknowledges
  std::uint64_t handshake_ns = kNone;  ///< where the packet ends the handshake: since the SYN
};

/// Takes in the next packet that `connection.sender[from]` sent; `finding` is as it was constructed.
///
/// Error:  what a capture point can know: losses between it and the sender look like reordering, and the reverse, and
///         time decides (20 ms for fast retransmissions; the handshake's round trip, or 3 ms, for reordering).
/// Source: the rules of Wireshark's sequence number analysis as its user's guide states them (section 7.5, "TCP
///         Analysis"); round-trip times by Karn's rule, with RFC 7323 time stamps where an ambiguity can be resolved by
///         them. Differences to Wireshark and tcptrace are in docs/accuracy.md.
void analyse_tcp(TcpConnection& connection, std::size_t from, const TcpFacts& tcp, std::uint16_t flags,
                 std::uint64_t time_ns, SegmentPool& segments, TcpFinding& finding) noexcept;

/// The same, without the short way that analyse_tcp() has for the next packet of a connection where nothing is lost,
/// sent again or in disorder.
void analyse_any_tcp(TcpConnection& connection, std::size_t from, const TcpFacts& tcp, std::uint16_t flags,
                     std::uint64_t time_ns, SegmentPool& segments, TcpFinding& finding) noexcept;

inline TcpFinding analyse_tcp(TcpConnection& connection, std::size_t from, const TcpFacts& tcp, std::uint16_t flags,
                              std::uint64_t time_ns, SegmentPool& segments) noexcept {
  TcpFinding finding;
  analyse_tcp(connection, from, tcp, flags, time_ns, segments, finding);
  return finding;
}

}  // namespace parshall
