// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/capture/packet.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

/// The second most common packets: TCP or UDP over IPv6 without extension headers, and either IP version behind one or
/// two VLAN tags. Returns false, with `facts` unspecified, for any other packet; decode_any() agrees on all of them.
///
/// Cost: about 5 ns, a tenth of decode_any().
bool decode_common(const RawPacket& packet, PacketFacts& facts) noexcept;

}  // namespace parshall
