// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace parshall {

/// Link types that are decoded, by LINKTYPE_ number (the registry kept by tcpdump.org).
enum class LinkType : std::uint16_t {
  null = 0,
  ethernet = 1,
  arcnet_bsd = 7,
  token_ring = 6,
  slip = 8,
  ppp = 9,
  fddi = 10,
  raw_12 = 12,
  raw_14 = 14,
  ppp_hdlc = 50,
  ppp_ether = 51,
  atm_rfc1483 = 100,
  raw = 101,
  cisco_hdlc = 104,
  ieee802_11 = 105,
  frame_relay = 107,
  loop = 108,
  enc = 109,
  linux_sll = 113,
  pflog = 117,
  ieee802_11_prism = 119,
  sunatm = 123,
  ieee802_11_radiotap = 127,
  arcnet_linux = 129,
  ieee802_11_avs = 163,
  ppi = 192,
  erf = 197,
  mpls = 219,
  ipnet = 226,
  ipv4 = 228,
  ipv6 = 229,
  nflog = 239,
  ipoib = 242,
  linux_sll2 = 276,
  dsa_tag_brcm = 281,
  dsa_tag_brcm_prepend = 282,
  dsa_tag_dsa = 284,
  dsa_tag_edsa = 285,
};

/// One packet as its source delivers it.
///
/// Shape: 32 bytes. `data` stays valid until the second poll() after the one that returned it.
struct alignas(32) RawPacket {
  const std::uint8_t* data = nullptr;  ///< first captured byte of the link-layer header
  std::uint64_t time_ns = 0;           ///< since 1970, from the file or the device, never from a clock read later
  std::uint32_t captured_bytes = 0;    ///< readable bytes behind `data`
  std::uint32_t wire_bytes = 0;        ///< frame length on the wire as stated by the capture
  std::uint32_t nic_hash = 0;          ///< RSS hash; valid if has_nic_hash
  LinkType link_type = LinkType::ethernet;
  bool has_nic_hash = false;
  std::uint8_t interface = kNoInterface;  ///< number among the interfaces of its source

  static constexpr std::uint8_t kNoInterface = 255;  ///< the source has no interfaces, or does not say which
};
static_assert(sizeof(RawPacket) == 32);

}  // namespace parshall
