// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/erf_record.hpp"
#include "pipeline/decode/layers.hpp"

namespace parshall {
namespace {

/// Enters an address family, given by its number on any system.
Step enter_family(std::uint32_t family, std::size_t at) noexcept {
  switch (family) {
    case 2:
      return Step::to(Layer::ipv4, at);
    case 10:  // Linux
    case 23:  // Windows
    case 24:  // NetBSD, OpenBSD
    case 28:  // FreeBSD
    case 30:
      return Step::to(Layer::ipv6, at);  // macOS
    default:
      return Step::not_ip();
  }
}

/// Reads an address family in the byte order of the capturing host.
std::uint32_t read_family(const Frame& frame, std::size_t at) noexcept {
  const std::uint32_t family = frame.le32(at);
  return (family & 0xffff0000) != 0 ? frame.be32(at) : family;
}

/// Enters a BSD loopback frame: an address family, or an EtherType.
Step enter_null(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 4)) return Step::cut();
  if (frame.be16(at) == 0xff03) return Step::to(Layer::ppp, at);
  const std::uint32_t family = read_family(frame, at);
  if (family > 1500) return Step::to_ether_type(static_cast<std::uint16_t>(family), at + 4);
  return enter_family(family, at + 4);
}

/// Skips the header of OpenBSD's enc interfaces (address family, SPI, flags). It precedes a packet that IPsec has
/// decrypted, or will encrypt.
Step enter_enc(const Frame& frame, std::size_t at) noexcept {
  return frame.has(at, 12) ? enter_family(read_family(frame, at), at + 12) : Step::cut();
}

/// Skips the header of BSD's packet filter log. The header states its length, to be padded to 4 bytes, and the address
/// family.
Step enter_pflog(const Frame& frame, std::size_t at) noexcept {
  constexpr std::size_t kLeastBytes = 4;
  if (!frame.has(at, kLeastBytes)) return Step::cut();
  const std::size_t header_bytes = (frame.u8(at) + 3u) / 4 * 4;
  return header_bytes < kLeastBytes ? Step::not_ip() : enter_family(frame.u8(at + 1), at + header_bytes);
}

/// Enters PPPoE; discovery frames carry no IP. Source: RFC 2516.
Step enter_pppoe(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 6)) return Step::cut();
  constexpr std::uint16_t kSessionData = 0x1100;
  return frame.be16(at) == kSessionData ? Step::to(Layer::ppp, at + 6) : Step::not_ip();
}

/// Skips a switch's tag of `tag_bytes` between the addresses of an Ethernet frame and its EtherType. The tag includes
/// its own EtherType, if it has one.
Step enter_dsa(const Frame& frame, std::size_t at, std::size_t tag_bytes) noexcept {
  const std::size_t type_at = at + 12 + tag_bytes;
  return frame.has(at, 14 + tag_bytes) ? Step::to_ether_type(frame.be16(type_at), type_at + 2) : Step::cut();
}

/// Skips InfiniBand's routing header and the encapsulation header of RFC 4391, section 6: an EtherType, 2 bytes
/// reserved.
Step enter_ipoib(const Frame& frame, std::size_t at) noexcept {
  constexpr std::size_t kRoutingBytes = 40, kBytes = kRoutingBytes + 4;
  return frame.has(at, kBytes) ? Step::to_ether_type(frame.be16(at + kRoutingBytes), at + kBytes) : Step::cut();
}

Step enter_cooked(const Frame& frame, std::size_t at, std::size_t type_at, std::size_t header_bytes) noexcept {
  if (!frame.has(at, header_bytes)) return Step::cut();
  const std::uint16_t type = frame.be16(at + type_at);
  constexpr std::uint16_t kLlc = 4;
  if (type == kLlc) return Step::to(Layer::llc, at + header_bytes);
  return type < 1536 ? Step::not_ip() : Step::to_ether_type(type, at + header_bytes);
}

Step enter_cisco_hdlc(const Frame& frame, std::size_t at) noexcept {
  return frame.has(at, 4) ? Step::to_ether_type(frame.be16(at + 2), at + 4) : Step::cut();
}

/// Enters PPP, possibly in HDLC framing. The address byte distinguishes Cisco's HDLC.
Step enter_ppp(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 1)) return Step::cut();
  constexpr std::uint8_t kCiscoUnicast = 0x0f, kCiscoMulticast = 0x8f;
  const std::uint8_t address = frame.u8(at);
  return address == kCiscoUnicast || address == kCiscoMulticast ? enter_cisco_hdlc(frame, at)
                                                                : Step::to(Layer::ppp, at);
}

/// Source: RFC 2427 (multiprotocol over frame relay), and Cisco's own encapsulation.
Step enter_frame_relay(const Frame& frame, std::size_t at) noexcept {
  std::size_t address_bytes = 1;
  constexpr std::uint8_t kLastAddressByte = 1;
  while (frame.has(at, address_bytes) && (frame.u8(at + address_bytes - 1) & kLastAddressByte) == 0) ++address_bytes;
  at += address_bytes;
  if (!frame.has(at, 2)) return Step::cut();
  constexpr std::uint8_t kUnnumbered = 0x03, kPad = 0x00, kNlpidSnap = 0x80, kNlpidIpv6 = 0x8e, kNlpidIpv4 = 0xcc;
  if (frame.u8(at) != kUnnumbered) return Step::to_ether_type(frame.be16(at), at + 2);
  ++at;
  if (frame.u8(at) == kPad) ++at;
  if (!frame.has(at, 1)) return Step::cut();
  switch (frame.u8(at)) {
    case kNlpidIpv4:
      return Step::to(Layer::ipv4, at + 1);
    case kNlpidIpv6:
      return Step::to(Layer::ipv6, at + 1);
    case kNlpidSnap:
      if (!frame.has(at, 6)) return Step::cut();
      return frame.be16(at + 1) == 0 && frame.u8(at + 3) == 0 ? Step::to_ether_type(frame.be16(at + 4), at + 6)
                                                              : Step::not_ip();
    default:
      return Step::not_ip();
  }
}

/// Enters a Linux netfilter log: attributes in the byte order of the host, one of which is the packet.
Step enter_nflog(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 4)) return Step::cut();
  const std::uint8_t family = frame.u8(at);
  constexpr std::uint8_t kIpv4 = 2, kIpv6 = 10;
  if (family != kIpv4 && family != kIpv6) return Step::not_ip();
  at += 4;
  const bool big_endian = frame.has(at, 4) && frame.le16(at) > 0xff && frame.be16(at) <= 0xff;
  while (frame.has(at, 4)) {
    const std::size_t length = big_endian ? frame.be16(at) : frame.le16(at);
    const std::uint16_t type = (big_endian ? frame.be16(at + 2) : frame.le16(at + 2)) & 0x7fff;
    constexpr std::uint16_t kPayload = 9;
    if (type == kPayload) return Step::to(family == kIpv4 ? Layer::ipv4 : Layer::ipv6, at + 4);
    if (length < 4) return Step::not_ip();
    at += (length + 3) / 4 * 4;
  }
  return Step::cut();
}

/// Enters ARCNET. Source: RFC 1201 (which may split packets, as the flag byte says) and RFC 1051.
Step enter_arcnet(const Frame& frame, std::size_t type_at, bool rfc1201_header_follows) noexcept {
  if (!frame.has(type_at, 1)) return Step::cut();
  constexpr std::uint8_t kIpRfc1051 = 240, kIpRfc1201 = 212, kIpv6 = 196;
  const std::uint8_t type = frame.u8(type_at);
  if (type == kIpRfc1051) return Step::to(Layer::ipv4, type_at + 1);
  if (type != kIpRfc1201 && type != kIpv6) return Step::not_ip();
  const Layer layer = type == kIpv6 ? Layer::ipv6 : Layer::ipv4;
  if (!rfc1201_header_follows) return Step::to(layer, type_at + 1);
  if (!frame.has(type_at, 5)) return Step::cut();
  constexpr std::uint8_t kException = 0xff;
  const std::uint8_t split = frame.u8(type_at + 1);
  if (split == kException) return Step::to(layer, type_at + 8);
  const bool later_part = split != 0 && (split & 1) == 0;
  return later_part ? Step::not_ip() : Step::to(layer, type_at + 4);
}

Step enter_token_ring(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 15)) return Step::cut();
  constexpr std::uint8_t kTypeMask = 0xc0, kLlcFrame = 0x40, kSourceRouted = 0x80, kRouteLength = 0x1f;
  if ((frame.u8(at + 1) & kTypeMask) != kLlcFrame) return Step::not_ip();
  const std::size_t route_bytes = (frame.u8(at + 8) & kSourceRouted) != 0 ? frame.u8(at + 14) & kRouteLength : 0u;
  return Step::to(Layer::llc, at + 14 + route_bytes);
}

Step enter_fddi(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 13)) return Step::cut();
  constexpr std::uint8_t kTypeMask = 0xf0, kLlcFrame = 0x50;
  return (frame.u8(at) & kTypeMask) == kLlcFrame ? Step::to(Layer::llc, at + 13) : Step::not_ip();
}

Step enter_erf(const Frame& frame, std::size_t at) noexcept {
  const auto headers = ErfHeaders::read(frame.from(at));
  if (!headers) return Step::cut();
  if (headers->link_type == LinkType::erf) return Step::not_ip();
  return enter_link(frame, headers->link_type, at + headers->bytes);
}

/// Enters Per-Packet Information: its own header, then a frame of the link type it names.
Step enter_ppi(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 8)) return Step::cut();
  const std::size_t header_bytes = frame.le16(at + 2);
  const std::uint32_t inner = frame.le32(at + 4);
  if (header_bytes < 8 || inner == static_cast<std::uint32_t>(LinkType::ppi)) return Step::not_ip();
  if (inner > 0xffff) return Step::stop(Verdict::unknown_link_type);
  return enter_link(frame, static_cast<LinkType>(inner), at + header_bytes);
}

Step enter_ipnet(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 24)) return Step::cut();
  constexpr std::uint8_t kIpv4 = 2, kIpv6 = 26;
  const std::uint8_t family = frame.u8(at + 1);
  if (family == kIpv4) return Step::to(Layer::ipv4, at + 24);
  return family == kIpv6 ? Step::to(Layer::ipv6, at + 24) : Step::not_ip();
}

/// Skips a SLIP header: the direction, how the packet was compressed, and room for a compressed header.
Step enter_slip(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 16)) return Step::cut();
  constexpr std::uint8_t kTypeMask = 0xf0, kUncompressed = 0x40;
  return (frame.u8(at + 1) & kTypeMask) == kUncompressed ? Step::to(Layer::ip, at + 16) : Step::not_ip();
}

Step enter_sunatm(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 4)) return Step::cut();
  constexpr std::uint8_t kLlc = 2;
  return (frame.u8(at) & 0x0f) == kLlc ? Step::to(Layer::llc, at + 4) : Step::not_ip();
}

}  // namespace

Step enter_link(const Frame& frame, LinkType link_type, std::size_t at) noexcept {
  switch (link_type) {
    case LinkType::ethernet:
      return Step::to(Layer::ethernet, at);
    case LinkType::raw:
    case LinkType::raw_12:
    case LinkType::raw_14:
      return Step::to(Layer::ip, at);
    case LinkType::ipv4:
      return Step::to(Layer::ipv4, at);
    case LinkType::ipv6:
      return Step::to(Layer::ipv6, at);
    case LinkType::null:
    case LinkType::loop:
      return enter_null(frame, at);
    case LinkType::linux_sll:
      return enter_cooked(frame, at, 14, 16);
    case LinkType::linux_sll2:
      return enter_cooked(frame, at, 0, 20);
    case LinkType::ppp:
    case LinkType::ppp_hdlc:
      return enter_ppp(frame, at);
    case LinkType::cisco_hdlc:
      return enter_cisco_hdlc(frame, at);
    case LinkType::frame_relay:
      return enter_frame_relay(frame, at);
    case LinkType::nflog:
      return enter_nflog(frame, at);
    case LinkType::arcnet_linux:
      return enter_arcnet(frame, at + 4, true);
    case LinkType::arcnet_bsd:
      return enter_arcnet(frame, at + 2, true);
    case LinkType::token_ring:
      return enter_token_ring(frame, at);
    case LinkType::fddi:
      return enter_fddi(frame, at);
    case LinkType::erf:
      return enter_erf(frame, at);
    case LinkType::slip:
      return enter_slip(frame, at);
    case LinkType::atm_rfc1483:
      return Step::to(Layer::llc, at);
    case LinkType::sunatm:
      return enter_sunatm(frame, at);
    case LinkType::ipnet:
      return enter_ipnet(frame, at);
    case LinkType::enc:
      return enter_enc(frame, at);
    case LinkType::pflog:
      return enter_pflog(frame, at);
    case LinkType::ppp_ether:
      return enter_pppoe(frame, at);
    case LinkType::ipoib:
      return enter_ipoib(frame, at);
    case LinkType::mpls:
      return Step::to(Layer::mpls, at);
    case LinkType::dsa_tag_brcm:
    case LinkType::dsa_tag_dsa:
      return enter_dsa(frame, at, 4);
    case LinkType::dsa_tag_edsa:
      return enter_dsa(frame, at, 8);
    case LinkType::dsa_tag_brcm_prepend:
      return Step::to(Layer::ethernet, at + 4);
    case LinkType::ppi:
      return enter_ppi(frame, at);
    case LinkType::ieee802_11:
    case LinkType::ieee802_11_prism:
    case LinkType::ieee802_11_avs:
    case LinkType::ieee802_11_radiotap:
      return enter_wlan(frame, link_type, at);
  }
  return Step::stop(Verdict::unknown_link_type);
}

}  // namespace parshall
