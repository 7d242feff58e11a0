// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/capture/packet.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Which IP header names the flow when a packet carries several (tunnels).
enum class IpHeader : std::uint8_t { outermost, innermost };

/// The general decoder: any link type, encapsulation, option or cut.
///
/// Sets key, time_ns and counts of `facts` when it returns Verdict::counted; `facts` is
/// unspecified otherwise. Never reads beyond `packet.captured_bytes`.
Verdict decode_any(const RawPacket& packet, IpHeader header, PacketFacts& facts) noexcept;

}  // namespace parshall
