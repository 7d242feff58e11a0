// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/decode/decode.hpp"
#include "pipeline/decode/side.hpp"

namespace parshall {

/// TCP header fields beyond ports and flags, for stages that track connections.
struct TcpFacts {
  std::uint32_t seq, ack;
  std::uint32_t payload_bytes;      ///< by the IP header's length, captured or not
  std::uint32_t ts_value, ts_echo;  ///< RFC 7323; 0 in packets without time stamps
  std::uint16_t window;             ///< as in the header, unscaled
  bool present = false;  ///< false: not a TCP segment, or too little captured; the other fields are then unspecified
  bool is_back = false;  ///< set for every packet if flows are biflows; see FlowIdentity::join_directions()
  SideFacts side = {};   ///< for any packet, on request; not read together with the other fields
  std::uint64_t packet_name = 0;  ///< likewise: see PacketNames
};
static_assert(sizeof(TcpFacts) == 40);

/// Reads the fields of a packet that decode_fast() accepted: Ethernet, IPv4 without options, TCP or UDP.
void read_tcp_fast(const RawPacket& packet, TcpFacts& tcp) noexcept;

/// Reads the fields behind up to two VLAN tags, of IPv4 without options or IPv6 without extension headers, as
/// read_tcp() would. Returns false, with `tcp` unspecified, for any other packet.
bool read_tcp_common(const RawPacket& packet, IpHeader header, TcpFacts& tcp) noexcept;

/// Reads the fields of any packet that was counted by this IP header. Walks the frame again: some 30 to 80 ns.
///
/// A fragment does not count as a segment, since its payload is incomplete. Truncated or contradictory options are
/// ignored.
/// Source: RFC 9293, time stamps by RFC 7323.
void read_tcp(const RawPacket& packet, IpHeader header, TcpFacts& tcp) noexcept;

}  // namespace parshall
