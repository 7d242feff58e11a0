// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/packet_name.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "pipeline/decode/fast_path.hpp"
#include "pipeline/decode/ip.hpp"

namespace parshall {
namespace {

constexpr std::uint8_t kTcp = FastHeader::kTcp, kUdp = FastHeader::kUdp;

/// Holds the parts of a packet that are hashed.
struct Contents {
  std::uint64_t low = 0, high = 0;
};

/// Bytes behind the IP header that are read: of TCP up to the window, of UDP up to the eleventh of payload.
constexpr std::size_t kRead = 19;

/// Returns the contents. `transport` has kRead bytes, zeros behind the end of the datagram.
[[gnu::always_inline]] inline Contents contents_of(std::uint8_t protocol, std::uint16_t identification,
                                                   const std::uint8_t* transport) noexcept {
  const std::uint64_t head = std::uint64_t{identification} << 48 | std::uint64_t{protocol} << 40;
  if (protocol == kTcp)
    return {load_unaligned<std::uint64_t>(transport + 4),
            head | std::uint64_t{transport[13]} << 16 | load_unaligned<std::uint16_t>(transport + 14)};
  if (protocol == kUdp)
    return {load_unaligned<std::uint64_t>(transport + 8),
            head | std::uint64_t{load_unaligned<std::uint16_t>(transport + 4)} << 24 |
                (load_unaligned<std::uint32_t>(transport + 15) >> 8)};
  return {load_unaligned<std::uint64_t>(transport), head | load_unaligned<std::uint32_t>(transport + 8)};
}

}  // namespace

std::uint64_t PacketNames::of_fast(const RawPacket& packet) const noexcept {
  constexpr std::size_t kIpAt = 14, kTransportAt = kIpAt + 20;
  const std::uint8_t* const data = packet.data;
  const std::uint32_t ip_bytes = __builtin_bswap16(load_unaligned<std::uint16_t>(data + kIpAt + 2));
  if (packet.captured_bytes < kTransportAt + kRead || ip_bytes < 20 + kRead) [[unlikely]]
    return of(packet, IpHeader::outermost);
  const Contents contents =
      contents_of(data[kIpAt + 9], load_unaligned<std::uint16_t>(data + kIpAt + 4), data + kTransportAt);
  return hash_.portable(contents.low, contents.high);
}

std::uint64_t PacketNames::of(const RawPacket& packet, IpHeader header) const noexcept {
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  Datagram datagram;
  if (find_datagram(frame, packet.link_type, header, datagram) != Verdict::counted) return 0;
  std::array<std::uint8_t, kRead> transport{};
  const auto captured = frame.until(datagram.end).from(datagram.payload_at);
  std::copy_n(captured.begin(), std::min(kRead, captured.size()), transport.begin());
  std::uint16_t identification = 0;
  if (datagram.version == 4) std::memcpy(&identification, frame.at(datagram.at + 4), sizeof identification);
  const std::uint8_t protocol = datagram.later_fragment ? std::uint8_t{0} : datagram.protocol;
  const Contents contents = contents_of(protocol, identification, transport.data());
  return hash_.portable(contents.low, contents.high);
}

}  // namespace parshall
