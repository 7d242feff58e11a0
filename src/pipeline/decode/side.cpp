// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/side.hpp"

#include "pipeline/decode/ip.hpp"

namespace parshall {
namespace {

constexpr std::size_t kEtherTypeAt = 12, kIpAt = 14, kIcmpBytes = 2;
constexpr std::uint8_t kIcmp = 1, kIcmpv6 = 58;
constexpr unsigned kEcnBits = 2;

bool is_vlan(std::uint16_t ether_type) noexcept {
  return ether_type == 0x8100 || ether_type == 0x88a8 || ether_type == 0x9100;
}

}  // namespace

void read_side_fast(const RawPacket& packet, SideFacts& side) noexcept {
  side = {.ttl = packet.data[kIpAt + 8],
          .dscp = static_cast<std::uint8_t>(packet.data[kIpAt + 1] >> kEcnBits),
          .interface = packet.interface};
}

void read_side(const RawPacket& packet, IpHeader header, SideFacts& side) noexcept {
  constexpr std::uint16_t kIdentifierBits = 0xfff;
  side = {.interface = packet.interface};
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  Datagram datagram;
  if (find_datagram(frame, packet.link_type, header, datagram) != Verdict::counted) return;
  if (packet.link_type == LinkType::ethernet && frame.has(kEtherTypeAt, 4) && is_vlan(frame.be16(kEtherTypeAt)))
    side.vlan = frame.be16(kIpAt) & kIdentifierBits;
  const std::size_t at = datagram.at;
  if (datagram.version == 4) {
    side.ttl = frame.u8(at + 8);
    side.dscp = static_cast<std::uint8_t>(frame.u8(at + 1) >> kEcnBits);
  } else {
    side.ttl = frame.u8(at + 7);
    side.dscp = static_cast<std::uint8_t>((frame.be16(at) >> 4 & 0xff) >> kEcnBits);
  }
  const bool is_icmp = datagram.protocol == kIcmp || datagram.protocol == kIcmpv6;
  if (is_icmp && !datagram.later_fragment && frame.until(datagram.end).has(datagram.payload_at, kIcmpBytes))
    side.icmp_type_code = frame.be16(datagram.payload_at);
}

}  // namespace parshall
