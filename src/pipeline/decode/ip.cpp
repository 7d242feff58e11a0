// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/ip.hpp"

#include <cstring>

namespace parshall {
namespace {

constexpr std::uint8_t kHopByHop = 0, kTcp = 6, kUdp = 17, kDccp = 33, kRouting = 43, kFragment = 44, kAh = 51,
                       kDestinationOptions = 60, kSctp = 132, kUdpLite = 136;

Verdict read_ipv4(const Frame& frame, std::size_t at, Datagram& datagram) noexcept {
  if (!frame.has(at, 20)) return Verdict::cut_ip_header;
  const std::size_t header_bytes = (frame.u8(at) & 15u) * 4;
  if (header_bytes < 20) return Verdict::bad_ip_header_length;
  std::size_t total_bytes = frame.be16(at + 2);
  if (total_bytes == 0) {
    total_bytes = frame.bytes_from(at);  // segmentation offload: captured before the frame was split
  }
  if (total_bytes < header_bytes) return Verdict::bad_ip_total_length;
  datagram = {.at = at,
              .payload_at = at + header_bytes,
              .end = at + total_bytes,
              .ip_bytes = static_cast<std::uint32_t>(total_bytes),
              .version = 4,
              .protocol = frame.u8(at + 9),
              .later_fragment = (frame.be16(at + 6) & 0x1fff) != 0,
              .fragment = (frame.be16(at + 6) & 0x3fff) != 0};
  return Verdict::counted;
}

bool is_extension(std::uint8_t protocol) noexcept {
  return protocol == kHopByHop || protocol == kRouting || protocol == kFragment || protocol == kDestinationOptions ||
         protocol == kAh;
}

Verdict read_ipv6(const Frame& frame, std::size_t at, Datagram& datagram) noexcept {
  if (!frame.has(at, 40)) return Verdict::cut_ip_header;
  const std::size_t payload_bytes = frame.be16(at + 4);
  // A payload length of 0 means a jumbogram: its ports can be read, but its length is not known here.
  const std::size_t end = payload_bytes == 0 ? at + frame.bytes_from(at) : at + 40 + payload_bytes;
  datagram = {.at = at,
              .payload_at = at + 40,
              .end = end,
              .ip_bytes = static_cast<std::uint32_t>(payload_bytes + 40),
              .version = 6,
              .protocol = frame.u8(at + 6)};
  while (is_extension(datagram.protocol) && !datagram.later_fragment) {
    const std::size_t header = datagram.payload_at;
    const bool fragment = datagram.protocol == kFragment;
    if (!frame.has(header, fragment ? 8 : 1)) break;
    // If the length field was not captured, the header has at least 8 bytes, and no bytes follow.
    const std::size_t length = frame.has(header, 2) ? frame.u8(header + 1) : 0;
    if (fragment) {
      datagram.later_fragment = (frame.be16(header + 2) & 0xfff8) != 0;
      datagram.fragment = (frame.be16(header + 2) & 0xfff9) != 0;
    }
    datagram.payload_at += fragment ? 8 : datagram.protocol == kAh ? (length + 2) * 4 : (length + 1) * 8;
    datagram.protocol = frame.u8(header);
  }
  return Verdict::counted;
}

bool has_ports(std::uint8_t protocol) noexcept {
  return protocol == kTcp || protocol == kUdp || protocol == kDccp || protocol == kSctp || protocol == kUdpLite;
}

}  // namespace

Verdict read_ip(const Frame& frame, const Step& step, Datagram& datagram) noexcept {
  if (!frame.has(step.at, 1)) return Verdict::cut_ip_header;
  const unsigned version = frame.u8(step.at) >> 4;
  if (version == 4 && step.layer != Layer::ipv6) return read_ipv4(frame, step.at, datagram);
  if (version == 6 && step.layer != Layer::ipv4) return read_ipv6(frame, step.at, datagram);
  return Verdict::bad_ip_version;
}

void describe(const Frame& frame, const Datagram& datagram, std::uint32_t wire_bytes, PacketFacts& facts) noexcept {
  FlowKey& key = facts.key;
  key = {};
  key.ip_version = datagram.version;
  key.protocol = datagram.protocol;
  if (datagram.version == 4) {
    std::memcpy(key.address.data(), frame.at(datagram.at + 12), 8);
  } else {
    std::memcpy(key.address.data(), frame.at(datagram.at + 8), 32);
  }
  std::uint32_t tcp_flags = 0;
  const Frame inside = frame.until(datagram.end);
  const std::size_t l4 = datagram.payload_at;
  if (!datagram.later_fragment && has_ports(datagram.protocol) && inside.has(l4, 4)) {
    std::memcpy(key.src_port_bytes.data(), inside.at(l4), 2);
    std::memcpy(key.dst_port_bytes.data(), inside.at(l4 + 2), 2);
    if (datagram.protocol == kTcp && inside.has(l4, 14)) tcp_flags = inside.be16(l4 + 12);
  }
  facts.counts = CountWord::packet(datagram.ip_bytes, wire_bytes, tcp_flags);
}

}  // namespace parshall
