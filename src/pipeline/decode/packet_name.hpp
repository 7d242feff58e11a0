// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/keyed_hash.hpp"
#include "pipeline/decode/decode.hpp"
#include "pipeline/decode/fast_path.hpp"

namespace parshall {

/// Names a packet within its flow, so that every tap with the same seed gives it the same name: a hash of what does not
/// change on the way. That is the IPv4 identification, and of TCP the sequence numbers, flags and window; of UDP the
/// length and the first bytes of payload; of others the first bytes behind the IP header.
///
/// Cost:  1 ns for common packets; else the frame is walked again, some 30 to 80 ns.
/// Error: a sender may repeat all of this, so a flow may have several packets of one name.
class PacketNames {
 public:
  /// Derives its own secret from the seed: exported names must not reveal the secret of the flow table.
  explicit PacketNames(std::uint64_t seed) noexcept : hash_(KeyedHash(seed).portable(seed, 0x7061'636b'6574'5f6e)) {}

  /// Returns the name of a packet that decode_fast() accepted: Ethernet, IPv4 without options, TCP or UDP.
  std::uint64_t of_fast(const RawPacket& packet) const noexcept;

  /// Returns the name of any packet that was counted by this IP header.
  std::uint64_t of(const RawPacket& packet, IpHeader header) const noexcept;

 private:
  /// Bytes behind the IP header that are read: of TCP up to the window, of UDP up to the eleventh of payload.
  static constexpr std::size_t kRead = 19;

  /// Returns the name. `transport` has kRead bytes, zeros behind the end of the datagram. The choice between TCP and
  /// UDP is no branch, as it would be mispredicted on a mix.
  [[gnu::always_inline]] std::uint64_t of_contents(std::uint8_t protocol, std::uint16_t identification,
                                                   const std::uint8_t* transport) const noexcept {
    const std::uint64_t is_tcp = protocol == FastHeader::kTcp ? 1 : 0;
    const std::uint64_t of_tcp = std::uint64_t{transport[13]} << 16 | load_unaligned<std::uint16_t>(transport + 14);
    const std::uint64_t of_udp = std::uint64_t{load_unaligned<std::uint16_t>(transport + 4)} << 24 |
                                 (load_unaligned<std::uint32_t>(transport + 15) >> 8);
    const std::uint64_t head = std::uint64_t{identification} << 48 | std::uint64_t{protocol} << 40;
    return hash_.portable(load_unaligned<std::uint64_t>(transport + 8 - 4 * is_tcp),
                          head | (of_tcp & (0 - is_tcp)) | (of_udp & (is_tcp - 1)));
  }

  KeyedHash hash_;
};

[[gnu::always_inline]] inline std::uint64_t PacketNames::of_fast(const RawPacket& packet) const noexcept {
  constexpr std::size_t kIpAt = 14, kTransportAt = kIpAt + 20;
  const std::uint8_t* const data = packet.data;
  const std::uint32_t ip_bytes = __builtin_bswap16(load_unaligned<std::uint16_t>(data + kIpAt + 2));
  if (packet.captured_bytes < kTransportAt + kRead || ip_bytes < 20 + kRead) [[unlikely]]
    return of(packet, IpHeader::outermost);
  return of_contents(data[kIpAt + 9], load_unaligned<std::uint16_t>(data + kIpAt + 4), data + kTransportAt);
}

}  // namespace parshall
