// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace parshall {

/// 64-bit hash that is the same on every machine and in every run. Anyone can make texts that collide.
/// Source: FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv.
constexpr std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace parshall
