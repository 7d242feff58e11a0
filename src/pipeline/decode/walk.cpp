// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/layers.hpp"

namespace parshall {
namespace {

constexpr std::uint16_t kFirstEtherType = 1536;  // smaller values are the length of an IEEE 802.3 frame
constexpr std::uint16_t kMacsec = 0x88e5;

Step pass_ethernet(const Frame& frame, std::size_t at) noexcept {
  return frame.has(at, 14) ? Step::to_ether_type(frame.be16(at + 12), at + 14) : Step::cut();
}

/// Skips a tag of `tag_bytes`, whose last two are the next EtherType.
Step pass_tag(const Frame& frame, std::size_t at, std::size_t tag_bytes) noexcept {
  return frame.has(at, tag_bytes) ? Step::to_ether_type(frame.be16(at + tag_bytes - 2), at + tag_bytes) : Step::cut();
}

/// Enters IEEE 802.1AE. Signed frames can be read; encrypted ones cannot.
Step pass_macsec(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 6)) return Step::cut();
  constexpr std::uint8_t kHasChannel = 0x20, kEncrypted = 0x08, kChanged = 0x04;
  const std::uint8_t control = frame.u8(at);
  if ((control & (kEncrypted | kChanged)) != 0) return Step::not_ip();
  return pass_tag(frame, at, (control & kHasChannel) != 0 ? 16 : 8);
}

/// Skips Arista's time stamp: subtype, version and time. The second hexadecimal digit of the version, from the right,
/// gives the length of the time. Source: print-arista.c of tcpdump.
Step pass_arista(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 4)) return Step::cut();
  constexpr std::uint16_t kTimeStamp = 1;
  const unsigned format = frame.u8(at + 3) >> 4;
  if (frame.be16(at) != kTimeStamp || format < 1 || format > 2) return Step::not_ip();
  return pass_tag(frame, at, format == 1 ? 14 : 12);
}

Step pass_ether_type(const Frame& frame, std::uint16_t type, std::size_t at) noexcept {
  if (type < kFirstEtherType) return Step::to(Layer::llc, at);
  switch (type) {
    case 0x0800:
      return Step::to(Layer::ipv4, at);
    case 0x86dd:
      return Step::to(Layer::ipv6, at);
    case 0x8100:  // IEEE 802.1Q
    case 0x88a8:  // 802.1ad
    case 0x9100:
    case 0x9200:
    case 0x9300:
      return pass_tag(frame, at, 4);
    case 0x8847:
    case 0x8848:
      return Step::to(Layer::mpls, at);
    case 0x8864:
      return frame.has(at, 6) ? Step::to(Layer::ppp, at + 6) : Step::cut();  // PPPoE session
    case 0x880b:
      return Step::to(Layer::ppp, at);
    case 0x6558:
      return Step::to(Layer::ethernet, at);  // transparent Ethernet bridging
    case 0x8870:
      return Step::to(Layer::llc, at);  // LLC in frames too long for a length field
    case 0x894f:
      return Step::to(Layer::nsh, at);
    case 0x88e7:
      return pass_tag(frame, at, 18);  // 802.1ah: service tag and the customer's addresses
    case 0x893f:
      return pass_tag(frame, at, 8);  // 802.1BR E-tag
    case 0x8909:
      return pass_tag(frame, at, 8);  // Cisco MetaData (security group tag)
    case 0x8988:
      return pass_tag(frame, at, 8);  // Cisco time stamp tag
    case 0xd28b:
      return pass_arista(frame, at);
    case 0x8926:
      return pass_tag(frame, at, 6);  // VN-tag
    case 0x892f:
      return pass_tag(frame, at, 6);  // HSR
    case 0xf1c1:
      return pass_tag(frame, at, 6);  // 802.1CB R-tag
    case kMacsec:
      return pass_macsec(frame, at);
    case 0x8903:
      return Step::to(Layer::ethernet, at + 2);  // Cisco FabricPath
    default:
      return Step::not_ip();
  }
}

Step pass_llc(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 3)) return Step::cut();
  const std::uint32_t head = std::uint32_t{frame.be16(at)} << 8 | frame.u8(at + 2);
  constexpr std::uint32_t kSnap = 0xaaaa03, kIp = 0x060603;
  if (head == kIp) return Step::to(Layer::ipv4, at + 3);
  if (head != kSnap) return Step::not_ip();
  if (!frame.has(at, 8)) return Step::cut();
  const std::uint32_t organization = std::uint32_t{frame.be16(at + 3)} << 8 | frame.u8(at + 5);
  constexpr std::uint32_t kEthernet = 0x000000, kBridgeTunnel = 0x0000f8;
  if (organization != kEthernet && organization != kBridgeTunnel) return Step::not_ip();
  return Step::to_ether_type(frame.be16(at + 6), at + 8);
}

Step pass_ppp(const Frame& frame, std::size_t at) noexcept {
  if (frame.has(at, 1) && frame.u8(at) == 0xff) {
    if (!frame.has(at, 2)) return Step::cut();
    if (frame.u8(at + 1) == 0x03) at += 2;
  }
  if (!frame.has(at, 1)) return Step::cut();
  std::uint32_t protocol = frame.u8(at);
  if ((protocol & 1) == 0) {  // an odd first byte means a compressed protocol field
    if (!frame.has(at, 2)) return Step::cut();
    protocol = frame.be16(at++);
  }
  ++at;
  switch (protocol) {
    case 0x0021:
      return Step::to(Layer::ipv4, at);
    case 0x0057:
      return Step::to(Layer::ipv6, at);
    case 0x0281:
    case 0x0283:
      return Step::to(Layer::mpls, at);
    default:
      return Step::not_ip();
  }
}

/// Guesses whether an Ethernet frame with IP or a tag begins here, because a label stack does not say.
bool looks_like_ethernet(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 15)) return false;
  const std::uint16_t type = frame.be16(at + 12);
  const unsigned version = frame.u8(at + 14) >> 4;
  return (type == 0x0800 && version == 4) || (type == 0x86dd && version == 6) || type == 0x8100 || type == 0x88a8;
}

/// Skips a label stack. Source: RFC 3032; the first nibble behind the stack by RFC 4928 and RFC 4385 (pseudowires).
Step pass_mpls(const Frame& frame, std::size_t at) noexcept {
  constexpr std::uint8_t kBottom = 1;
  for (bool bottom = false; !bottom; at += 4) {
    if (!frame.has(at, 4)) return Step::cut();
    bottom = (frame.u8(at + 2) & kBottom) != 0;
  }
  if (!frame.has(at, 1)) return Step::cut();
  switch (frame.u8(at) >> 4) {
    case 4:
    case 6:
      return Step::to(Layer::ip, at);
    case 0:
      if (looks_like_ethernet(frame, at + 4)) return Step::to(Layer::ethernet, at + 4);
      break;
    case 1:  // associated channel; its type may be a PPP number
      if (!frame.has(at, 4)) return Step::cut();
      if (frame.be16(at + 2) == 0x0021) return Step::to(Layer::ipv4, at + 4);
      if (frame.be16(at + 2) == 0x0057) return Step::to(Layer::ipv6, at + 4);
      return Step::not_ip();
    default:
      break;
  }
  return looks_like_ethernet(frame, at) ? Step::to(Layer::ethernet, at) : Step::not_ip();
}

/// Source: RFC 8300, section 2.2.
Step pass_nsh(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 4)) return Step::cut();
  const std::size_t header_bytes = (frame.be16(at) & 0x3f) * 4u;
  if (header_bytes < 8) return Step::not_ip();
  switch (frame.u8(at + 3)) {
    case 1:
      return Step::to(Layer::ipv4, at + header_bytes);
    case 2:
      return Step::to(Layer::ipv6, at + header_bytes);
    case 3:
      return Step::to(Layer::ethernet, at + header_bytes);
    case 4:
      return Step::to(Layer::nsh, at + header_bytes);
    case 5:
      return Step::to(Layer::mpls, at + header_bytes);
    default:
      return Step::not_ip();
  }
}

Step pass(const Frame& frame, const Step& step) noexcept {
  switch (step.layer) {
    case Layer::ethernet:
      return pass_ethernet(frame, step.at);
    case Layer::ether_type:
      return pass_ether_type(frame, step.ether_type, step.at);
    case Layer::llc:
      return pass_llc(frame, step.at);
    case Layer::ppp:
      return pass_ppp(frame, step.at);
    case Layer::mpls:
      return pass_mpls(frame, step.at);
    case Layer::nsh:
      return pass_nsh(frame, step.at);
    case Layer::wlan:
      return pass_wlan(frame, step.at, WlanControl::standard);
    case Layer::wlan_swapped:
      return pass_wlan(frame, step.at, WlanControl::swapped);
    case Layer::ip:
    case Layer::ipv4:
    case Layer::ipv6:
    case Layer::stop:
      break;
  }
  return step;
}

}  // namespace

Step walk_to_ip(const Frame& frame, Step step) noexcept {
  // The loop ends: every layer moves `at` forward, except ether_type, which is entered only after bytes were passed.
  bool is_signed = false;
  while (!step.at_ip() && step.layer != Layer::stop) {
    is_signed |= step.layer == Layer::ether_type && step.ether_type == kMacsec;
    step = pass(frame, step);
  }
  step.is_signed = is_signed;
  return step;
}

}  // namespace parshall
