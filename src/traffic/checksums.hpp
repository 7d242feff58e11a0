// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/decode/ip.hpp"

namespace parshall {

/// State of a datagram's Internet checksums: IPv4's header and, for a complete datagram that is not a fragment, TCP's,
/// UDP's, ICMP's or ICMPv6's. A UDP checksum of 0 over IPv4 means that there is none.
///
/// Source: RFC 1071 (the sum), RFC 768, 792, 4443, 9293; RFC 8200, section 8.1 (the pseudo-header).
enum class ChecksumState : std::uint8_t {
  good,
  wrong,
  unknown,  ///< truncated, a fragment, behind a Routing header, or another protocol; any IPv4 header checksum is good
};

/// Checks a datagram that was found in `frame`, of which `frame_bytes` bytes are present.
ChecksumState check_checksums(const std::uint8_t* frame, std::size_t frame_bytes, const Datagram& datagram) noexcept;

/// Corrects the checksums; those that are `unknown` stay as they are.
void write_checksums(std::uint8_t* frame, std::size_t frame_bytes, const Datagram& datagram) noexcept;

/// Returns whether an IPv6 datagram has a Routing header, which may hold its final destination. The headers before its
/// payload must be in the frame.
bool is_routed(const std::uint8_t* frame, const Datagram& datagram) noexcept;

/// Returns the ones' complement sum of `bytes` bytes, not folded. The first byte is the upper half of a word.
std::uint64_t internet_sum(const std::uint8_t* at, std::size_t bytes) noexcept;

constexpr std::uint16_t fold_sum(std::uint64_t sum) noexcept {
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

}  // namespace parshall
