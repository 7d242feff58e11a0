// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "pipeline/decode/decode.hpp"
#include "pipeline/decode/frame.hpp"
#include "pipeline/decode/layers.hpp"

namespace parshall {

/// A valid IP header and its payload.
struct Datagram {
  std::size_t at = 0;          ///< position of the IP header
  std::size_t payload_at = 0;  ///< behind options or extension headers; may lie beyond the captured bytes
  std::size_t end = 0;         ///< by the length field, or the frame's end if that field is 0
  std::uint32_t ip_bytes = 0;
  std::uint8_t version = 0;
  std::uint8_t protocol = 0;
  bool later_fragment = false;  ///< true for fragments other than the first, which have no transport header
  bool fragment = false;        ///< true for every fragment, so the payload is incomplete
};

/// Reads the header that `step` points to. Sets `datagram` only if it returns Verdict::counted.
///
/// Walks the IPv6 extension headers Hop-by-Hop, Routing, Fragment, Destination Options and AH, but not IPv4's AH.
/// Source: RFC 791, RFC 8200; docs/accuracy.md lists what is rejected.
Verdict read_ip(const Frame& frame, const Step& step, Datagram& datagram) noexcept;

/// Finds the datagram that defines the frame's flow: the outermost, or the innermost valid one.
Verdict find_datagram(const Frame& frame, LinkType link_type, IpHeader header, Datagram& datagram) noexcept;

/// Sets the key, lengths and TCP flags in `facts`.
void describe(const Frame& frame, const Datagram& datagram, std::uint32_t wire_bytes, PacketFacts& facts) noexcept;

}  // namespace parshall
