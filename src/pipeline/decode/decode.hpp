// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/choices.hpp"
#include "pipeline/capture/packet.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Decodes any packet, whatever its link type, encapsulation, options or truncation.
///
/// Sets key, time_ns and counts of `facts` if it returns Verdict::counted; otherwise `facts` is unspecified. Never
/// reads beyond `packet.captured_bytes`.
Verdict decode_any(const RawPacket& packet, IpHeader header, PacketFacts& facts) noexcept;

/// Returns how many packets follow the first in an aggregate of IEEE 802.11 (A-MSDU). decode_any() ignores them.
std::uint32_t count_later_msdus(const RawPacket& packet) noexcept;

}  // namespace parshall
