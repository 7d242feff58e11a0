// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>

namespace parshall {

inline constexpr std::uint32_t kEthernetBytes = 14;
/// Constants for the bytes of the line that a frame takes. These are the frame itself, without the checksum that
/// captures omit and at least 60, then the checksum (4), preamble and start (8), and the gap (12).
inline constexpr std::uint32_t kLeastFrameBytes = 60, kLineOverheadBytes = 4 + 8 + 12;
constexpr std::uint64_t line_bytes(std::uint32_t frame_bytes) noexcept {
  return (frame_bytes < kLeastFrameBytes ? kLeastFrameBytes : frame_bytes) + kLineOverheadBytes;
}

inline constexpr std::uint32_t kEtherIpv4 = 0x0800, kEtherIpv6 = 0x86DD;

inline void put16(std::uint8_t* at, std::uint32_t value) noexcept {
  at[0] = static_cast<std::uint8_t>(value >> 8);
  at[1] = static_cast<std::uint8_t>(value);
}

inline void put32(std::uint8_t* at, std::uint32_t value) noexcept {
  put16(at, value >> 16);
  put16(at + 2, value & 0xFFFF);
}

inline std::uint32_t get16(const std::uint8_t* at) noexcept { return static_cast<std::uint32_t>(at[0]) << 8 | at[1]; }
inline std::uint32_t get32(const std::uint8_t* at) noexcept { return get16(at) << 16 | get16(at + 2); }

inline void write_ethernet(std::uint8_t* frame, std::uint32_t type) noexcept {
  static constexpr std::uint8_t kMac[12] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
  std::memcpy(frame, kMac, sizeof kMac);
  put16(frame + 12, type);
}

/// Returns the checksum of an IPv4 header of 20 bytes (RFC 1071).
inline std::uint16_t header_checksum(const std::uint8_t* header) noexcept {
  std::uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += static_cast<std::uint32_t>(header[i] << 8 | header[i + 1]);
  while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace parshall
