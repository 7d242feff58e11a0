// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pipeline/capture/packet.hpp"

namespace parshall {

/// Describes what a record of one type has between its headers, extension headers included, and the frame.
struct ErfType {
  std::size_t bytes;
  LinkType link_type;  ///< link type of the frame; `erf` if it cannot carry IP

  static constexpr ErfType of(unsigned type) noexcept;

  /// Returns whether a record of this type says how many packets were lost before it. Others have a colour in that
  /// place.
  static constexpr bool counts_losses(unsigned type) noexcept {
    return (type >= 1 && type <= 9) || (type >= 12 && type <= 14) || type == 18 || (type >= 21 && type <= 25);
  }
};

/// Headers before the frame in a record of Endace's Extensible Record Format.
///
/// Shape: 8 bytes of time (little endian, in 2^-32 s since 1970); type, whose top bit says that extension headers
///        follow; flags; length of the record; lost packets before it, or a colour; length on the wire (all three big
///        endian). Then 8 bytes for each extension header, whose top bit says that another follows; then the bytes
///        specific to the type.
/// Source: Endace's ERF types reference, as Wireshark's erf.c and libtrace read it.
struct ErfHeaders {
  static constexpr std::size_t kFixedBytes = 16;
  static constexpr std::uint8_t kPad = 48;  ///< type of a record that is only padding

  std::uint8_t type = 0;
  std::size_t bytes = 0;               ///< length of all that is before the frame
  LinkType link_type = LinkType::erf;  ///< link type of the frame; `erf` if it cannot carry IP

  /// Reads the headers of the record that begins `bytes`. Returns nullopt if the bytes end before the frame begins.
  static std::optional<ErfHeaders> read(std::span<const std::uint8_t> bytes) noexcept;
};

constexpr ErfType ErfType::of(unsigned type) noexcept {
  switch (type) {
    case 2:  // Ethernet, behind an offset and a pad byte
    case 11:
    case 16:
    case 20:
      return {2, LinkType::ethernet};
    case 1:  // HDLC: PPP or Cisco's
    case 10:
    case 15:
    case 19:
      return {0, LinkType::ppp_hdlc};
    case 5:  // the same of one of many channels
    case 17:
      return {4, LinkType::ppp_hdlc};
    case 4:  // AAL5, behind its first cell's header
      return {4, LinkType::atm_rfc1483};
    case 9:  // the same of one of many channels
      return {8, LinkType::atm_rfc1483};
    case 22:
      return {0, LinkType::ipv4};
    case 23:
      return {0, LinkType::ipv6};
    case 6:  // other traffic of one of many channels
    case 7:
    case 8:
    case 12:
    case 18:
      return {4, LinkType::erf};
    default:
      return {0, LinkType::erf};
  }
}

inline std::optional<ErfHeaders> ErfHeaders::read(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.size() < kFixedBytes) return std::nullopt;
  constexpr std::uint8_t kMore = 0x80;
  constexpr std::size_t kExtensionBytes = 8;
  const auto type = static_cast<std::uint8_t>(bytes[8] & ~kMore);
  bool more = (bytes[8] & kMore) != 0;
  std::size_t at = kFixedBytes;
  for (; more; at += kExtensionBytes) {
    if (bytes.size() - at < kExtensionBytes) return std::nullopt;
    more = (bytes[at] & kMore) != 0;
  }
  const ErfType known = ErfType::of(type);
  if (bytes.size() - at < known.bytes) return std::nullopt;
  return ErfHeaders{.type = type, .bytes = at + known.bytes, .link_type = known.link_type};
}

}  // namespace parshall
