// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/tunnel.hpp"

namespace parshall {
namespace {

/// Enters ERSPAN, Cisco's switched port analyser: a frame behind a header whose form follows from the GRE type and the
/// sequence bit. Source: draft-foschiano-erspan.
Step enter_erspan(const Frame& frame, std::size_t at, bool type_iii, bool numbered) noexcept {
  if (!type_iii) return Step::to(Layer::ethernet, numbered ? at + 8 : at);  // types II and I
  if (!frame.has(at, 12)) return Step::cut();
  constexpr std::uint8_t kPlatformHeader = 1;
  const std::size_t header_bytes = (frame.u8(at + 11) & kPlatformHeader) != 0 ? 20 : 12;
  constexpr unsigned kEthernet = 0, kIp = 2;
  const unsigned frame_type = frame.u8(at + 10) >> 2 & 0x1f;
  if (frame_type == kEthernet) return Step::to(Layer::ethernet, at + header_bytes);
  return frame_type == kIp ? Step::to(Layer::ip, at + header_bytes) : Step::not_ip();
}

/// Enters GRE. Source: RFC 1701 (routing), RFC 2784, RFC 2890, RFC 2637 (version 1, with PPP inside).
Step enter_gre(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 4)) return Step::cut();
  constexpr std::uint16_t kChecksum = 0x8000, kRouting = 0x4000, kKey = 0x2000, kSequence = 0x1000,
                          kAcknowledge = 0x0080, kVersion = 0x0007;
  const std::uint16_t flags = frame.be16(at);
  const std::uint16_t type = frame.be16(at + 2);
  at += 4;
  if ((flags & kVersion) > 1) return Step::not_ip();
  if ((flags & (kChecksum | kRouting)) != 0) at += 4;
  if ((flags & kKey) != 0) at += 4;
  if ((flags & kSequence) != 0) at += 4;
  if ((flags & kVersion) == 1 && (flags & kAcknowledge) != 0) at += 4;
  if ((flags & kRouting) != 0) {
    for (std::size_t length = 1; length != 0;) {
      if (!frame.has(at, 4)) return Step::cut();
      length = frame.u8(at + 3);
      at += 4 + length;
    }
  }
  constexpr std::uint16_t kErspan = 0x88be, kErspanIii = 0x22eb, kWccp = 0x883e, kCiscoMetaData = 0x8909;
  if (type == kErspan || type == kErspanIii)
    return enter_erspan(frame, at, type == kErspanIii, (flags & kSequence) != 0);
  if (type == kWccp) {  // version 2 puts 4 bytes before the packet without marking them
    if (!frame.has(at, 1)) return Step::cut();
    return Step::to(Layer::ipv4, frame.u8(at) >> 4 == 4 ? at : at + 4);
  }
  if (type == kCiscoMetaData) {  // unlike on Ethernet, the next type comes first
    return frame.has(at, 8) ? Step::to_ether_type(frame.be16(at), at + 8) : Step::cut();
  }
  // Aruba's access points send 802.11 frames with any of 24 types.
  constexpr std::uint16_t kAruba = 0x8200, kArubaMask = 0xfe0f, kLastAruba = 0x8370;
  if ((type & kArubaMask) == kAruba && type <= kLastAruba) return Step::to(Layer::wlan, at);
  return type < 1536 ? Step::not_ip() : Step::to_ether_type(type, at);
}

/// Enters GRE in UDP, which has at most a checksum, a key and a sequence number. Any other flag shows that another
/// program uses the port. Port 4755 is for DTLS, which cannot be decoded. A DTLS record begins with a content type of
/// at least 20 and the version byte 0xfe, never with allowed GRE flags. So unencrypted GRE on that port, which the RFC
/// does not intend, is recognised and decoded. Source: RFC 8086, sections 3 and 5; RFC 6347, section 4.1.
Step enter_gre_in_udp(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 4)) return Step::cut();
  constexpr std::uint16_t kMayBeSet = 0xb000;
  return (frame.be16(at) & ~kMayBeSet) == 0 ? enter_gre(frame, at) : Step::not_ip();
}

/// Enters Anything in Anything. Packets that only keep the tunnel up carry no payload.
/// Source: draft-massar-v6ops-ayiya-02, section 4.
Step enter_ayiya(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 4)) return Step::cut();
  constexpr unsigned kForward = 1, kIpv4 = 4, kIpv6 = 41, kGre = 47;
  if ((frame.u8(at + 2) & 0x0f) != kForward) return Step::not_ip();
  const std::size_t identity_bytes = std::size_t{1} << (frame.u8(at) >> 4);
  const std::size_t signature_bytes = (frame.u8(at + 1) >> 4) * 4u;
  const std::size_t payload_at = at + 8 + identity_bytes + signature_bytes;
  switch (frame.u8(at + 3)) {
    case kIpv4:
      return Step::to(Layer::ipv4, payload_at);
    case kIpv6:
      return Step::to(Layer::ipv6, payload_at);
    case kGre:
      return enter_gre(frame, payload_at);
    default:
      return Step::not_ip();
  }
}

/// Source: 3GPP TS 29.281, section 5.
Step enter_gtp_u(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 8)) return Step::cut();
  constexpr std::uint8_t kVersionMask = 0xf0, kVersion1 = 0x30, kOptional = 0x07, kExtended = 0x04, kPayload = 0xff;
  const std::uint8_t flags = frame.u8(at);
  if ((flags & kVersionMask) != kVersion1 || frame.u8(at + 1) != kPayload) return Step::not_ip();
  at += 8;
  if ((flags & kOptional) == 0) return Step::to(Layer::ip, at);
  if (!frame.has(at, 4)) return Step::cut();
  std::uint8_t next = (flags & kExtended) != 0 ? frame.u8(at + 3) : std::uint8_t{0};
  at += 4;
  while (next != 0) {
    if (!frame.has(at, 1)) return Step::cut();
    const std::size_t length = frame.u8(at) * 4u;
    if (length == 0) return Step::not_ip();
    if (!frame.has(at, length)) return Step::cut();
    next = frame.u8(at + length - 1);
    at += length;
  }
  return Step::to(Layer::ip, at);
}

/// Source: RFC 4380, section 5.1.1.
Step enter_teredo(const Frame& frame, std::size_t at) noexcept {
  constexpr std::uint16_t kAuthentication = 0x0001, kOrigin = 0x0000;
  if (frame.has(at, 4) && frame.be16(at) == kAuthentication) {
    at += 4 + std::size_t{frame.u8(at + 2)} + frame.u8(at + 3) + 9;
  }
  if (frame.has(at, 8) && frame.be16(at) == kOrigin) at += 8;
  return Step::to(Layer::ipv6, at);
}

/// Source: RFC 2661, section 3.1.
Step enter_l2tp(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 2)) return Step::cut();
  constexpr std::uint16_t kControl = 0x8000, kLength = 0x4000, kSequence = 0x0800, kOffset = 0x0200, kVersion = 0x000f;
  const std::uint16_t flags = frame.be16(at);
  if ((flags & kControl) != 0 || (flags & kVersion) != 2) return Step::not_ip();
  at += 6;
  if ((flags & kLength) != 0) at += 2;
  if ((flags & kSequence) != 0) at += 4;
  if ((flags & kOffset) != 0) {
    if (!frame.has(at, 2)) return Step::cut();
    at += 2u + frame.be16(at);
  }
  return Step::to(Layer::ppp, at);
}

/// Enters CAPWAP. The frame control field inside is byte-swapped, as access points send it. Source: RFC 5415, section
/// 4.3.
Step enter_capwap(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 8)) return Step::cut();
  constexpr std::uint32_t kNative = 0x100, kFragment = 0x80;
  const std::uint32_t head = frame.be32(at);
  const bool clear_text = (head >> 24) == 0;
  if (!clear_text || (head & kFragment) != 0) return Step::not_ip();
  const std::size_t header_bytes = (head >> 19 & 0x1f) * 4;
  return Step::to((head & kNative) != 0 ? Layer::wlan_swapped : Layer::ethernet, at + header_bytes);
}

/// Enters VXLAN. With `generic`, the header names the payload. Source: RFC 7348; draft-ietf-nvo3-vxlan-gpe.
Step enter_vxlan(const Frame& frame, std::size_t at, bool generic) noexcept {
  if (!frame.has(at, 8)) return Step::cut();
  constexpr std::uint8_t kHasIdentifier = 0x08;
  if (!generic) {
    return (frame.u8(at) & kHasIdentifier) != 0 ? Step::to(Layer::ethernet, at + 8) : Step::not_ip();
  }
  switch (frame.u8(at + 3)) {
    case 1:
      return Step::to(Layer::ipv4, at + 8);
    case 2:
      return Step::to(Layer::ipv6, at + 8);
    case 3:
      return Step::to(Layer::ethernet, at + 8);
    case 4:
      return Step::to(Layer::nsh, at + 8);
    case 5:
      return Step::to(Layer::mpls, at + 8);
    default:
      return Step::not_ip();
  }
}

/// Source: RFC 8926, section 3.4.
Step enter_geneve(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 8)) return Step::cut();
  if (frame.u8(at) >> 6 != 0) return Step::not_ip();
  return Step::to_ether_type(frame.be16(at + 2), at + 8 + (frame.u8(at) & 0x3fu) * 4);
}

/// Enters an encapsulated control message. Source: RFC 6830, section 6.1.8.
Step enter_lisp_control(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 4)) return Step::cut();
  constexpr unsigned kEncapsulated = 8;
  return frame.u8(at) >> 4 == kEncapsulated ? Step::to(Layer::ip, at + 4) : Step::not_ip();
}

/// Source: RFC 7761, section 4.9.3.
Step enter_pim(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 8)) return Step::cut();
  constexpr std::uint8_t kVersion2Register = 0x21;
  return frame.u8(at) == kVersion2Register ? Step::to(Layer::ip, at + 8) : Step::not_ip();
}

}  // namespace

Step enter_udp_tunnel(const Frame& frame, std::size_t udp_at) noexcept {
  if (!frame.has(udp_at, 8)) return Step::cut();
  const std::uint16_t from = frame.be16(udp_at);
  const std::uint16_t to = frame.be16(udp_at + 2);
  const std::size_t at = udp_at + 8;
  switch (to) {
    case 4789:
      return enter_vxlan(frame, at, /*generic=*/false);
    case 4790:
      return enter_vxlan(frame, at, /*generic=*/true);
    case 6081:
      return enter_geneve(frame, at);
    case 6635:
      return Step::to(Layer::mpls, at);
    case 4341:
      return Step::to(Layer::ip, at + 8);  // LISP
    case 4342:
      return enter_lisp_control(frame, at);
    default:
      break;
  }
  // Peers of these protocols answer from the same port.
  for (const std::uint16_t port : {to, from}) {
    switch (port) {
      case 2152:
        return enter_gtp_u(frame, at);
      case 3544:
        return enter_teredo(frame, at);
      case 1701:
        return enter_l2tp(frame, at);
      case 4754:
      case 4755:
        return enter_gre_in_udp(frame, at);
      case 5072:
        return enter_ayiya(frame, at);
      case 5247:
        return enter_capwap(frame, at);
      default:
        break;
    }
  }
  return Step::not_ip();
}

Step enter_tunnel(const Frame& frame, const Datagram& datagram) noexcept {
  if (datagram.later_fragment) return Step::not_ip();
  std::size_t at = datagram.payload_at;
  std::uint8_t protocol = datagram.protocol;
  constexpr std::uint8_t kAh = 51;
  if (protocol == kAh && frame.has(at, 8)) {
    protocol = frame.u8(at);
    at += (frame.u8(at + 1) + 2u) * 4;
  }
  switch (protocol) {
    case 4:
      return Step::to(Layer::ipv4, at);
    case 41:
      return Step::to(Layer::ipv6, at);
    case 17:
      return enter_udp_tunnel(frame, at);
    case 47:
      return enter_gre(frame, at);
    case 97:
      return Step::to(Layer::ethernet, at + 2);  // EtherIP, RFC 3378
    case 103:
      return enter_pim(frame, at);
    case 137:
      return Step::to(Layer::mpls, at);
    case 143:
      return Step::to(Layer::ethernet, at);  // RFC 8986
    default:
      return Step::not_ip();
  }
}

}  // namespace parshall
