// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace parshall {

/// IPv6 address, or an IPv4 one mapped into it (RFC 4291, 2.5.5.2).
using MappedAddress = std::array<std::uint8_t, 16>;

/// Maps an address of 4 or 16 bytes.
inline MappedAddress mapped(std::span<const std::uint8_t> address) noexcept {
  MappedAddress all{};
  if (address.size() == 4) all[10] = all[11] = 0xff;
  std::ranges::copy(address, all.end() - static_cast<std::ptrdiff_t>(address.size()));
  return all;
}

}  // namespace parshall
