// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstdint>
#include <cstring>

namespace parshall {

template <std::unsigned_integral T>
constexpr T byte_swapped(T value) noexcept {
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  return value;
}

/// Loads an integer of a file whose writer may have used the other byte order.
template <std::unsigned_integral T>
T load(const std::uint8_t* from, bool swapped) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return swapped ? byte_swapped(value) : value;
}

}  // namespace parshall
