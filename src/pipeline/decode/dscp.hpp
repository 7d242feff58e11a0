// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/capture/packet.hpp"

namespace parshall {

/// Differentiated services code point, 0 to 63: the upper 6 bits of IPv4's TOS byte or IPv6's traffic class. The lower
/// two bits belong to ECN.
using Dscp = std::uint8_t;
inline constexpr unsigned kDscps = 64;

/// Writes the DSCP to the outermost IP header of the frame. Returns false and changes nothing if the frame has no IP
/// header, or if the header is truncated or signed (IEEE 802.1AE). An IPv4 checksum is updated, not computed anew, so a
/// wrong one stays wrong.
///
/// Source: RFC 2474; RFC 1624, equation 3.
bool write_dscp(std::uint8_t* frame, std::size_t captured_bytes, LinkType link_type, Dscp dscp) noexcept;

/// Parses a name of IANA's registry, in upper or lower case, or a number; nullopt for anything else.
std::optional<Dscp> parse_dscp(std::string_view text) noexcept;

/// Returns the name, or the number of a code point without a name.
std::string dscp_name(Dscp dscp);

}  // namespace parshall
