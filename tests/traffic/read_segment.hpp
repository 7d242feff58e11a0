// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "played.hpp"

namespace parshall {

/// A TCP segment as it was read from its frame.
struct Read {
  std::uint32_t flow, sequence, acknowledgment, payload_bytes, mss;
  unsigned flags;
};

inline Read read(const RawPacket& packet, std::uint32_t flow) {
  const Datagram datagram = datagram_of(packet);
  EXPECT_EQ(check_checksums(packet.data, packet.captured_bytes, datagram), ChecksumState::good);
  EXPECT_LE(datagram.end, packet.captured_bytes);
  const std::uint8_t* const tcp = packet.data + datagram.payload_at;
  const std::uint32_t header_bytes = std::uint32_t{tcp[12]} >> 4 << 2;
  EXPECT_EQ(get16(tcp + 14), 0xFFFFu);
  const bool has_mss = header_bytes == 24 && tcp[20] == 2 && tcp[21] == 4;
  EXPECT_TRUE(header_bytes == 20 || has_mss);
  return {flow,
          get32(tcp + 4),
          get32(tcp + 8),
          static_cast<std::uint32_t>(datagram.end - datagram.payload_at) - header_bytes,
          has_mss ? get16(tcp + 22) : 0,
          tcp[13]};
}

}  // namespace parshall
