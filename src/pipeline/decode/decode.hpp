// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/choices.hpp"
#include "pipeline/capture/packet.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

/// The general decoder: any link type, encapsulation, option or cut.
///
/// Sets key, time_ns and counts of `facts` when it returns Verdict::counted; `facts` is
/// unspecified otherwise. Never reads beyond `packet.captured_bytes`.
Verdict decode_any(const RawPacket& packet, IpHeader header, PacketFacts& facts) noexcept;

/// Returns how many packets are behind the first in an aggregate of IEEE 802.11 (A-MSDU), which decode_any() leaves
/// alone.
std::uint32_t count_later_msdus(const RawPacket& packet) noexcept;

}  // namespace parshall
