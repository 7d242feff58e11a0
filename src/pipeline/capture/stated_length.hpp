// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

namespace parshall {

/// Returns the length of a truncated Ethernet frame according to its IP header, for drivers that cut frames without
/// saying so. Returns the truncated length if there is no IP header.
inline std::uint32_t stated_length(std::span<const std::uint8_t> frame) noexcept {
  const auto be16 = [&](std::size_t at) -> std::uint32_t {
    return at + 2 <= frame.size() ? static_cast<std::uint32_t>(frame[at] << 8 | frame[at + 1]) : 0;
  };
  std::size_t type_at = 12;
  while (be16(type_at) == 0x8100 || be16(type_at) == 0x88a8) type_at += 4;
  const std::size_t ip = type_at + 2;
  std::size_t end = 0;
  if (be16(type_at) == 0x0800) end = ip + be16(ip + 2);
  if (be16(type_at) == 0x86dd) end = ip + 40 + be16(ip + 4);
  return static_cast<std::uint32_t>(std::max(end, frame.size()));
}

}  // namespace parshall
