// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "pipeline/decode/decode.hpp"
#include "pipeline/decode/frame.hpp"
#include "pipeline/decode/layers.hpp"

namespace parshall {

/// An IP header that was found good, and what lies behind it.
struct Datagram {
  std::size_t at = 0;          ///< of the IP header
  std::size_t payload_at = 0;  ///< behind options or extension headers; may lie beyond the captured bytes
  std::size_t end = 0;         ///< by its length field, or of the frame where the field is 0
  std::uint32_t ip_bytes = 0;
  std::uint8_t version = 0;
  std::uint8_t protocol = 0;
  bool later_fragment = false;  ///< not the first: there is no transport header
  bool fragment = false;        ///< the first or a later one: the payload is not all here
};

/// Reads the header that `step` points to; only Verdict::counted sets `datagram`.
///
/// IPv6 extension headers Hop-by-Hop, Routing, Fragment, Destination Options and AH are walked; IPv4's AH is not.
/// Source: RFC 791, RFC 8200; what is refused is in docs/accuracy.md.
Verdict read_ip(const Frame& frame, const Step& step, Datagram& datagram) noexcept;

/// The datagram that a frame's flow is named by: the outermost, or the innermost that is good.
Verdict find_datagram(const Frame& frame, LinkType link_type, IpHeader header, Datagram& datagram) noexcept;

/// Key, sizes and TCP flags of the datagram.
void describe(const Frame& frame, const Datagram& datagram, std::uint32_t wire_bytes, PacketFacts& facts) noexcept;

}  // namespace parshall
