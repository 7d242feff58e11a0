// SPDX-License-Identifier: Apache-2.0
#include "compare/packet_id.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/simd.hpp"
#include "pipeline/decode/ip.hpp"

namespace parshall {
namespace {

constexpr std::size_t kPayloadBytes = 32;
constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kIcmpv6 = 58, kSctp = 132;

/// Holds what is hashed to an id. Protocols without a layout have nothing but payload.
struct Contents {
  std::array<std::uint8_t, 4> ip{};  ///< identification, protocol, TCP flags or ICMP type
  std::array<std::uint8_t, 12> transport{};
  std::array<std::uint8_t, kPayloadBytes> payload{};
};
static_assert(sizeof(Contents) == 48);

struct Part {
  std::size_t from, bytes, to;  ///< position in the transport header, length, position in Contents::transport
};
/// Fields of a transport header that stay, and where its payload begins.
struct Layout {
  std::array<Part, 2> parts;
  std::size_t header_bytes;
};

constexpr Layout kTcpLayout{{{{4, 8, 0}, {14, 2, 8}}}, 20};           // sequence numbers, window
constexpr Layout kUdpLayout{{{{4, 2, 0}, {0, 0, 0}}}, 8};             // length of the whole datagram
constexpr Layout kIcmpLayout{{{{0, 2, 0}, {4, 4, 2}}}, 8};            // type, code, rest of the header
constexpr Layout kTranslatedIcmpLayout{{{{0, 2, 0}, {6, 2, 4}}}, 8};  // without the identifier, which NAT changes
constexpr Layout kSctpLayout{{{{4, 4, 0}, {0, 0, 0}}}, 12};           // verification tag
constexpr Layout kOtherLayout{{{{0, 0, 0}, {0, 0, 0}}}, 0};

const Layout& layout_of(std::uint8_t protocol, OnTheWay on_the_way) noexcept {
  switch (protocol) {
    case kTcp:
      return kTcpLayout;
    case kUdp:
      return kUdpLayout;
    case kIcmp:
    case kIcmpv6:
      return on_the_way == OnTheWay::translated ? kTranslatedIcmpLayout : kIcmpLayout;
    case kSctp:
      return kSctpLayout;
    default:
      return kOtherLayout;
  }
}

}  // namespace

Verdict PacketIds::read(const RawPacket& packet, SeenPacket& seen) const noexcept {
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  Datagram datagram;
  const Verdict verdict = find_datagram(frame, packet.link_type, IpHeader::innermost, datagram);
  if (verdict != Verdict::counted) return verdict;
  PacketFacts facts{};
  describe(frame, datagram, packet.wire_bytes, facts);
  seen = {.key = facts.key,
          .time_ns = packet.time_ns,
          .ttl = frame.u8(datagram.at + (datagram.version == 4 ? 8 : 7)),
          .has_id = !datagram.later_fragment};
  if (!seen.has_id) return verdict;

  Contents contents;
  if (datagram.version == 4) std::memcpy(contents.ip.data(), frame.at(datagram.at + 4), 2);
  contents.ip[2] = datagram.protocol;
  const Frame inside = frame.until(datagram.end);
  const auto copy = [&](std::size_t from, std::size_t bytes, std::uint8_t* to) {
    const auto captured = inside.from(datagram.payload_at + from);
    std::copy_n(captured.begin(), std::min(bytes, captured.size()), to);
  };
  const Layout& layout = layout_of(datagram.protocol, on_the_way_);
  std::size_t header_bytes = layout.header_bytes;
  for (const Part& part : layout.parts) copy(part.from, part.bytes, contents.transport.data() + part.to);
  if (datagram.protocol == kTcp && inside.has(datagram.payload_at, 14)) {
    header_bytes = std::max<std::size_t>(header_bytes, (inside.u8(datagram.payload_at + 12) >> 4) * 4u);
    contents.ip[3] = inside.u8(datagram.payload_at + 13);
  }
  copy(header_bytes, kPayloadBytes, contents.payload.data());
  const std::size_t wanted = std::min(datagram.payload_at + header_bytes + kPayloadBytes, datagram.end);
  seen.is_cut = wanted > packet.captured_bytes;

  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&contents);
  const auto* const key = reinterpret_cast<const std::uint8_t*>(&facts.key);
  std::uint64_t flow = 0;
  if (on_the_way_ == OnTheWay::forwarded) {
    std::array<std::uint8_t, 48> padded{};
    std::copy_n(key, facts.key.significant_bytes(), padded.begin());
    flow = hash_(simd::load(padded.data()), simd::load(padded.data() + 16), simd::load(padded.data() + 32));
  }
  seen.id = hash_(simd::load(bytes) ^ simd::words(flow, 0), simd::load(bytes + 16), simd::load(bytes + 32));
  return verdict;
}

}  // namespace parshall
