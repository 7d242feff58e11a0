// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/common_path.hpp"

#include "base/simd.hpp"
#include "pipeline/decode/fast_path.hpp"

namespace parshall {
namespace {

constexpr std::size_t kAddresses = 12, kTag = 4;  // bytes of an Ethernet header's two addresses, and of a VLAN tag

std::uint16_t be16(const std::uint8_t* at) noexcept { return __builtin_bswap16(load_unaligned<std::uint16_t>(at)); }

bool is_vlan(std::uint16_t ether_type) noexcept { return ether_type == 0x8100 || ether_type == 0x88a8; }

bool decode_ipv4(const RawPacket& packet, PacketFacts& facts) noexcept {
  FastHeader header;
  if (!decode_fast(packet, header)) return false;
  simd::store(&facts.key, header.key_head);
  facts.counts = header.counts;
  return true;
}

bool decode_ipv6(const RawPacket& packet, PacketFacts& facts) noexcept {
  constexpr std::size_t kIp = 14, kL4 = kIp + 40, kTcpFlags = kL4 + 12;
  if (packet.captured_bytes < kTcpFlags + 2 || packet.data[kIp] >> 4 != 6) return false;
  const std::uint8_t next_header = packet.data[kIp + 6];
  const FastProtocol protocol = kFastProtocols[next_header];
  const std::uint32_t ip_bytes = 40u + be16(packet.data + kIp + 4);
  const std::uint32_t extra_bytes = packet.wire_bytes - ip_bytes;
  // The table's least length is for an IPv4 header, which is 20 bytes shorter.
  if (ip_bytes < protocol.least_ip_bytes + 20 || extra_bytes > CountWord::kMaxExtraBytes) return false;
  // Written in the pieces that the identity reads next, so that no load has to wait for two stores.
  constexpr std::size_t kSource = kIp + 8;
  const std::uint64_t names =
      load_unaligned<std::uint32_t>(packet.data + kL4) | std::uint64_t{next_header} << 32 | std::uint64_t{6} << 40;
  const auto key = reinterpret_cast<std::uint8_t*>(&facts.key);
  const auto source_start = load_unaligned<std::uint64_t>(packet.data + kSource);
  simd::store(key, simd::words(names, source_start));
  std::memcpy(key + 16, packet.data + kSource + 8, 16);
  std::memcpy(key + 32, packet.data + kSource + 24, 8);
  facts.counts = CountWord::narrow(ip_bytes, extra_bytes, be16(packet.data + kTcpFlags) & protocol.flag_mask);
  return true;
}

}  // namespace

bool decode_common(const RawPacket& packet, PacketFacts& facts) noexcept {
  RawPacket untagged = packet;
  if (!remove_tags(untagged)) return false;
  facts.time_ns = packet.time_ns;
  switch (be16(untagged.data + kAddresses)) {
    case 0x0800:
      return decode_ipv4(untagged, facts);
    case 0x86dd:
      return decode_ipv6(untagged, facts);
    default:
      return false;
  }
}

bool remove_tags(RawPacket& packet) noexcept {
  if (packet.link_type != LinkType::ethernet || packet.captured_bytes < kFastPathBytes + 2 * kTag) return false;
  for (int tags = 0; tags < 2 && is_vlan(be16(packet.data + kAddresses)); ++tags) {
    packet.data += kTag;
    packet.captured_bytes -= static_cast<std::uint32_t>(kTag);
  }
  return true;
}

}  // namespace parshall
