// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/decode.hpp"

#include <algorithm>

#include "pipeline/decode/frame.hpp"
#include "pipeline/decode/ip.hpp"
#include "pipeline/decode/layers.hpp"
#include "pipeline/decode/tunnel.hpp"

namespace parshall {
namespace {

constexpr int kMaxTunnels = 16;

/// Descends through tunnels as long as there is another valid IP header.
Datagram innermost_of(Frame frame, Datagram datagram) noexcept {
  for (int depth = 0; depth < kMaxTunnels; ++depth) {
    frame = frame.until(datagram.end);
    const Step step = walk_to_ip(frame, enter_tunnel(frame, datagram));
    const std::size_t outer_end = datagram.end;
    if (!step.at_ip() || read_ip(frame, step, datagram) != Verdict::counted) break;
    datagram.end = std::min(datagram.end, outer_end);
  }
  return datagram;
}

}  // namespace

Verdict find_datagram(const Frame& frame, LinkType link_type, IpHeader header, Datagram& datagram) noexcept {
  const Step step = walk_to_ip(frame, enter_link(frame, link_type, 0));
  if (!step.at_ip()) return step.verdict;
  if (const Verdict verdict = read_ip(frame, step, datagram); verdict != Verdict::counted) return verdict;
  if (header == IpHeader::innermost) datagram = innermost_of(frame, datagram);
  return Verdict::counted;
}

Verdict decode_any(const RawPacket& packet, IpHeader header, PacketFacts& facts) noexcept {
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  Datagram datagram;
  const Verdict verdict = find_datagram(frame, packet.link_type, header, datagram);
  if (verdict != Verdict::counted) return verdict;

  describe(frame, datagram, packet.wire_bytes, facts);
  facts.time_ns = packet.time_ns;
  return Verdict::counted;
}

}  // namespace parshall
