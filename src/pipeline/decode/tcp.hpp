// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/decode/decode.hpp"
#include "pipeline/decode/side.hpp"

namespace parshall {

/// What a TCP header says beyond ports and flags, for those who follow connections.
struct TcpFacts {
  std::uint32_t seq, ack;
  std::uint32_t payload_bytes;      ///< by the IP header's length, captured or not
  std::uint32_t ts_value, ts_echo;  ///< RFC 7323; of packets without, 0
  std::uint16_t window;             ///< as it stands there, unscaled
  bool present = false;             ///< false: no TCP segment, or too little captured; the rest is unspecified then
  bool is_back = false;             ///< of any packet, where flows are biflows: FlowIdentity::join_directions()
  SideFacts side = {};              ///< of any packet, for those who ask; not read with the others
};
static_assert(sizeof(TcpFacts) == 32);

/// Of a packet that decode_fast() took: Ethernet, IPv4 without options, TCP or UDP.
void read_tcp_fast(const RawPacket& packet, TcpFacts& tcp) noexcept;

/// Of any packet that was counted under this header. Walks the frame again: some 30 to 80 ns.
///
/// A fragment is no segment: its payload is not all there.
/// Source: RFC 9293, time stamps by RFC 7323. What is cut off, or contradicts itself, is left out.
void read_tcp(const RawPacket& packet, IpHeader header, TcpFacts& tcp) noexcept;

}  // namespace parshall
