// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/decode/decode.hpp"

namespace parshall {

/// What a packet's headers say that no flow is told by, for those who ask.
struct SideFacts {
  static constexpr std::uint16_t kNone = 0xffff;

  std::uint16_t vlan = kNone;            ///< the outermost VLAN identifier of an Ethernet frame
  std::uint16_t icmp_type_code = kNone;  ///< type * 256 + code, of ICMP and ICMPv6
  std::uint8_t ttl = 0, dscp = 0;        ///< of IPv6 hop limit, and in the traffic class
  std::uint8_t interface = RawPacket::kNoInterface;
};
static_assert(sizeof(SideFacts) == 8);

/// Of a packet that decode_fast() took: Ethernet, IPv4 without options, TCP or UDP.
void read_side_fast(const RawPacket& packet, SideFacts& side) noexcept;

/// Of any packet that was counted under this header. Walks the frame again: some 30 to 80 ns.
void read_side(const RawPacket& packet, IpHeader header, SideFacts& side) noexcept;

}  // namespace parshall
