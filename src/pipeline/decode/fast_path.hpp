// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/simd.hpp"
#include "pipeline/capture/packet.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

static_assert(std::endian::native == std::endian::little,
              "the wide loads below take the packet's bytes as little endian");

inline constexpr std::size_t kGroup = 8;  ///< packets that a stage works on at a time

/// Bytes of a frame that the fast path may read: up to the TCP flags of Ethernet + IPv4 + TCP.
inline constexpr std::uint32_t kFastPathBytes = 48;

template <class T>
[[gnu::always_inline]] inline T load_unaligned(const std::uint8_t* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Fields read by decode_fast(), few enough to stay in registers until they are hashed.
struct FastHeader {
  simd::Bytes16 key_head;  ///< the first FlowKey::kHeadBytes of the key
  CountWord counts;

  static constexpr std::uint8_t kTcp = 6, kUdp = 17;
  bool is_tcp() const noexcept { return simd::element<std::uint8_t>(key_head, offsetof(FlowKey, protocol)) == kTcp; }
};

/// Requirements of the fast path for one transport protocol.
struct FastProtocol {
  std::uint32_t least_ip_bytes;  ///< IPv4 length that holds both headers; unreachable for other protocols
  std::uint32_t flag_mask;       ///< selects the TCP flags from the bits at their place
};
inline constexpr auto kFastProtocols = [] {
  constexpr std::uint32_t kNever = 1 << 20;
  std::array<FastProtocol, 256> protocols{};
  protocols.fill({kNever, 0});  // not as a default: gcc 12 emits zeros for defaults in a constant array
  protocols[FastHeader::kTcp] = {20 + 20, CountWord::kFlagMask};
  protocols[FastHeader::kUdp] = {20 + 8, 0};
  return protocols;
}();

/// Decodes the common packet without branches on its content: Ethernet II, IPv4 without options, not a fragment, TCP or
/// UDP, not truncated. Returns false, with `header` unspecified, for any other packet.
///
/// Cost: about 2 ns. The protocol comes from a table, because `== 6 || == 17` mispredicts on a mix. The key comes from
///       one load, because a key assembled in memory would stall the load that follows.
[[gnu::always_inline]] inline bool decode_fast(const RawPacket& packet, FastHeader& header) noexcept {
  const std::uint8_t* const data = packet.data;
  if (packet.captured_bytes < kFastPathBytes || packet.link_type != LinkType::ethernet) [[unlikely]]
    return false;
  const auto type_to_ihl = load_unaligned<std::uint32_t>(data + 12);           // EtherType, version + IHL, TOS
  const auto fragment_to_protocol = load_unaligned<std::uint32_t>(data + 20);  // flags + fragment offset, TTL, protocol
  const std::uint32_t ip_bytes = __builtin_bswap16(load_unaligned<std::uint16_t>(data + 16));
  const std::uint32_t extra_bytes = packet.wire_bytes - ip_bytes;
  const FastProtocol protocol = kFastProtocols[fragment_to_protocol >> 24];
  if ((((type_to_ihl ^ 0x450008) & 0xFFFFFF) | (fragment_to_protocol & 0xFF3F)) != 0) [[unlikely]]
    return false;
  if (ip_bytes < protocol.least_ip_bytes || extra_bytes > CountWord::kMaxExtraBytes) [[unlikely]]
    return false;

  constexpr std::size_t kFrom = 22;  // TTL, protocol, checksum, source, destination, ports
  constexpr simd::Order kOrder = {12, 13, 14, 15, 1, simd::kZero, simd::kZero, simd::kZero, 4, 5, 6, 7, 8, 9, 10, 11};
  header.key_head = simd::shuffled(simd::load(data + kFrom), kOrder) | simd::words(4ull << 40, 0);
  const std::uint16_t flags = __builtin_bswap16(load_unaligned<std::uint16_t>(data + 46));
  header.counts = CountWord::narrow(ip_bytes, extra_bytes, flags & protocol.flag_mask);
  return true;
}

}  // namespace parshall
