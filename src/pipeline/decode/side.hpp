// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/decode/decode.hpp"

namespace parshall {

/// Header fields of a packet that are not part of its flow's key, read only on request.
struct SideFacts {
  static constexpr std::uint16_t kNone = 0xffff;

  std::uint16_t vlan = kNone;            ///< the outermost VLAN identifier of an Ethernet frame
  std::uint16_t icmp_type_code = kNone;  ///< type * 256 + code, for ICMP and ICMPv6
  std::uint8_t ttl = 0, dscp = 0;        ///< for IPv6, the hop limit and a part of the traffic class
  std::uint8_t interface = RawPacket::kNoInterface;
};
static_assert(sizeof(SideFacts) == 8);

/// Reads the fields of a packet that decode_fast() accepted: Ethernet, IPv4 without options, TCP or UDP.
void read_side_fast(const RawPacket& packet, SideFacts& side) noexcept;

/// Reads the fields of any packet that was counted by this IP header. Walks the frame again: some 30 to 80 ns.
void read_side(const RawPacket& packet, IpHeader header, SideFacts& side) noexcept;

}  // namespace parshall
