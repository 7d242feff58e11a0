// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/tcp.hpp"

#include <algorithm>

#include "pipeline/decode/common_path.hpp"
#include "pipeline/decode/fast_path.hpp"
#include "pipeline/decode/ip.hpp"

namespace parshall {
namespace {

constexpr std::size_t kHeaderBytes = 20, kNeededBytes = 16;  // up to the window
constexpr std::uint8_t kTcp = 6;

std::uint16_t be16(const std::uint8_t* at) noexcept { return __builtin_bswap16(load_unaligned<std::uint16_t>(at)); }
std::uint32_t be32(const std::uint8_t* at) noexcept { return __builtin_bswap32(load_unaligned<std::uint32_t>(at)); }

void read_timestamps(const std::uint8_t* at, TcpFacts& tcp) noexcept {
  tcp.ts_value = be32(at);
  tcp.ts_echo = be32(at + 4);
}

void read_options(const std::uint8_t* at, std::size_t bytes, TcpFacts& tcp) noexcept {
  constexpr std::uint8_t kEnd = 0, kNothing = 1, kTimestamps = 8;
  constexpr std::uint32_t kAlignedTimestamps = 0x0101080a;  // layout that nearly every stack sends
  if (bytes >= 12 && be32(at) == kAlignedTimestamps) return read_timestamps(at + 4, tcp);
  while (bytes != 0 && *at != kEnd) {
    if (*at == kNothing) {
      ++at, --bytes;
      continue;
    }
    if (bytes < 2 || at[1] < 2 || at[1] > bytes) return;
    const std::size_t length = at[1];
    if (*at == kTimestamps && length == 10) return read_timestamps(at + 2, tcp);
    at += length, bytes -= length;
  }
}

/// Reads the header at `at`, of which `captured` bytes are present. With its payload it has `segment_bytes`.
[[gnu::always_inline]] inline void read_header(const std::uint8_t* at, std::size_t captured, std::size_t segment_bytes,
                                               TcpFacts& tcp) noexcept {
  tcp.present = false;
  if (captured < kNeededBytes) return;
  const std::size_t header_bytes = static_cast<std::size_t>(at[12] >> 4) * 4;
  if (header_bytes < kHeaderBytes || header_bytes > segment_bytes) return;
  tcp.seq = be32(at + 4);
  tcp.ack = be32(at + 8);
  tcp.payload_bytes = static_cast<std::uint32_t>(segment_bytes - header_bytes);
  tcp.window = be16(at + 14);
  tcp.present = true;
  tcp.ts_value = tcp.ts_echo = 0;
  const std::size_t options_end = std::min(header_bytes, captured);
  if (options_end > kHeaderBytes) read_options(at + kHeaderBytes, options_end - kHeaderBytes, tcp);
}

}  // namespace

void read_tcp_fast(const RawPacket& packet, TcpFacts& tcp) noexcept {
  constexpr std::size_t kIp = 14, kL4 = kIp + 20;
  if (packet.data[kIp + 9] != kTcp) {
    tcp.present = false;
    return;
  }
  read_header(
      packet.data + kL4, packet.captured_bytes - kL4,
      std::min<std::size_t>(be16(packet.data + kIp + 2), std::max(packet.wire_bytes, packet.captured_bytes) - kIp) - 20,
      tcp);
}

bool read_tcp_common(const RawPacket& packet, IpHeader header, TcpFacts& tcp) noexcept {
  constexpr std::size_t kIp = 14, kIpv6Bytes = 40, kL4 = kIp + kIpv6Bytes;
  RawPacket untagged = packet;
  if (!remove_tags(untagged)) return false;
  untagged.wire_bytes =
      std::max(packet.wire_bytes, packet.captured_bytes) - (packet.captured_bytes - untagged.captured_bytes);
  if (FastHeader ipv4; decode_fast(untagged, ipv4)) {
    read_tcp_fast(untagged, tcp);
    return ipv4.is_tcp() || header == IpHeader::outermost;  // no tunnel runs over TCP
  }
  const std::uint8_t* const ip = untagged.data + kIp;
  if (be16(ip - 2) != 0x86dd || *ip >> 4 != 6) return false;
  if (ip[6] == FastHeader::kUdp) return tcp.present = false, header == IpHeader::outermost;
  if (ip[6] != kTcp || untagged.captured_bytes < kL4) return false;
  const std::size_t segment_bytes = be16(ip + 4);
  if (segment_bytes < kHeaderBytes) return false;
  read_header(untagged.data + kL4, untagged.captured_bytes - kL4,
              std::min<std::size_t>(segment_bytes, untagged.wire_bytes - kL4), tcp);
  return true;
}

void read_tcp(const RawPacket& packet, IpHeader header, TcpFacts& tcp) noexcept {
  tcp.present = false;
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  Datagram datagram;
  if (find_datagram(frame, packet.link_type, header, datagram) != Verdict::counted) return;
  const std::size_t at = datagram.payload_at;
  const std::size_t end = std::min(datagram.end, frame.bytes_from(0));
  if (datagram.protocol != kTcp || datagram.fragment || !frame.until(end).has(at, kNeededBytes)) return;
  read_header(frame.at(at), std::min<std::size_t>(packet.captured_bytes, end) - at, end - at, tcp);
}

}  // namespace parshall
