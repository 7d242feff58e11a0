// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/decode/ip.hpp"

namespace parshall {

/// The Internet checksums of a datagram: IPv4's header and, where it is whole and not a fragment, TCP's, UDP's, ICMP's
/// and ICMPv6's. A UDP checksum of 0 over IPv4 says that there is none.
///
/// Source: RFC 1071 (the sum), RFC 768, 792, 4443, 9293; RFC 8200, section 8.1 (the pseudo-header).
enum class ChecksumState : std::uint8_t {
  good,
  wrong,
  unknown,  ///< cut, a fragment, behind a Routing header, or of another protocol; an IPv4 header that is there is good
};

/// `frame`: its first byte; `frame_bytes`: how many are there; the datagram was found in it.
ChecksumState check_checksums(const std::uint8_t* frame, std::size_t frame_bytes, const Datagram& datagram) noexcept;

/// Makes them right; those that are unknown are left alone.
void write_checksums(std::uint8_t* frame, std::size_t frame_bytes, const Datagram& datagram) noexcept;

/// Whether an IPv6 datagram has a Routing header, which may keep its final destination. The headers before its payload
/// are in the frame.
bool is_routed(const std::uint8_t* frame, const Datagram& datagram) noexcept;

/// Ones' complement sum of so many bytes, the first of them being the upper half of a word; not folded.
std::uint64_t internet_sum(const std::uint8_t* at, std::size_t bytes) noexcept;

constexpr std::uint16_t fold_sum(std::uint64_t sum) noexcept {
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

}  // namespace parshall
