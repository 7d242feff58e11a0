// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/payload.hpp"

#include <algorithm>

#include "pipeline/decode/fast_path.hpp"
#include "pipeline/decode/ip.hpp"

namespace parshall {
namespace {

constexpr std::size_t kTcpHeaderBytes = 20, kUdpHeaderBytes = 8;

std::uint16_t be16(const std::uint8_t* at) noexcept { return __builtin_bswap16(load_unaligned<std::uint16_t>(at)); }

/// Reads the transport header at `at`, of which `captured` bytes are present; with its payload it has `bytes`.
[[gnu::always_inline]] inline bool read_transport(const std::uint8_t* at, std::size_t captured, std::size_t bytes,
                                                  bool is_tcp, Payload& payload) noexcept {
  const std::size_t least = is_tcp ? kTcpHeaderBytes : kUdpHeaderBytes;
  if (captured < least || bytes < least) return false;
  payload.src_port = be16(at);
  payload.dst_port = be16(at + 2);
  payload.is_tcp = is_tcp;
  std::size_t header_bytes = kUdpHeaderBytes;
  if (is_tcp) {
    constexpr std::uint8_t kSyn = 2;
    header_bytes = static_cast<std::size_t>(at[12] >> 4) * 4;
    payload.seq = __builtin_bswap32(load_unaligned<std::uint32_t>(at + 4));
    payload.is_syn = (at[13] & kSyn) != 0;
  } else {
    const std::size_t udp_bytes = be16(at + 4);  // 0 in a datagram of more than 64 KB (RFC 2675)
    if (udp_bytes != 0) bytes = std::min(bytes, udp_bytes);
    payload.seq = 0;
    payload.is_syn = false;
  }
  if (header_bytes < least || header_bytes > bytes) return false;
  payload.is_cut = captured < bytes && header_bytes < bytes;  // options may be cut where there is no payload
  const std::size_t end = std::min(captured, bytes);
  payload.bytes = {at + std::min(header_bytes, end), at + end};
  return true;
}

}  // namespace

bool read_payload(const RawPacket& packet, IpHeader header, Payload& payload) noexcept {
  constexpr std::size_t kIp = 14, kIpHeaderBytes = 20, kTransport = kIp + kIpHeaderBytes;
  if (FastHeader fast; decode_fast(packet, fast) && (header == IpHeader::outermost || fast.is_tcp())) {
    const std::size_t in_frame = std::max(packet.wire_bytes, packet.captured_bytes) - kIp;
    const std::size_t ip_bytes = std::min<std::size_t>(be16(packet.data + kIp + 2), in_frame);
    return read_transport(packet.data + kTransport, packet.captured_bytes - kTransport, ip_bytes - kIpHeaderBytes,
                          fast.is_tcp(), payload);
  }
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  Datagram datagram;
  if (find_datagram(frame, packet.link_type, header, datagram) != Verdict::counted) return false;
  const bool is_tcp = datagram.protocol == FastHeader::kTcp;
  const bool is_udp = datagram.protocol == FastHeader::kUdp;
  if (datagram.later_fragment || (datagram.fragment && is_tcp) || (!is_tcp && !is_udp)) return false;
  const std::size_t at = datagram.payload_at, end = std::min(datagram.end, frame.bytes_from(0));
  if (at > end || at > packet.captured_bytes) return false;
  if (!read_transport(frame.at(at), packet.captured_bytes - at, end - at, is_tcp, payload)) return false;
  payload.is_cut |= datagram.fragment;
  return true;
}

bool find_ip_packet(const RawPacket& packet, IpHeader header, IpPacket& found) noexcept {
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  Datagram datagram;
  if (find_datagram(frame, packet.link_type, header, datagram) != Verdict::counted) return false;
  PacketFacts facts;
  describe(frame, datagram, packet.wire_bytes, facts);
  found.key = facts.key;
  found.tcp_flags = facts.counts.tcp_flags();
  const std::size_t end = std::min<std::size_t>(datagram.end, packet.captured_bytes);
  found.bytes = {packet.data + datagram.at, packet.data + std::max(datagram.at, end)};
  return true;
}

}  // namespace parshall
