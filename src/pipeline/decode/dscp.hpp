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
/// two are ECN's.
using Dscp = std::uint8_t;
inline constexpr unsigned kDscps = 64;

/// Writes it to the outermost IP header of the frame. False, and nothing changed, where there is none, or it is cut or
/// signed (IEEE 802.1AE). An IPv4 header's checksum is updated, not computed anew: one that was wrong stays so.
///
/// Source: RFC 2474; RFC 1624, equation 3.
bool write_dscp(std::uint8_t* frame, std::size_t captured_bytes, LinkType link_type, Dscp dscp) noexcept;

/// By its name in IANA's registry, upper or lower case, or as a number; nothing where it is neither.
std::optional<Dscp> parse_dscp(std::string_view text) noexcept;

/// Its name; of one that has none, the number.
std::string dscp_name(Dscp dscp);

}  // namespace parshall
