// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

#include "base/simd.hpp"

namespace parshall {

using simd::prefetch_line;

/// Prefetches every cache line of an object of `Bytes` bytes, at most the first 256. The object is in an array that
/// starts at a cache line.
template <std::size_t Bytes>
[[gnu::always_inline]] inline void prefetch_object(const void* at) noexcept {
  constexpr std::size_t kLine = 64, kWanted = Bytes < 256 ? Bytes : 256;
  const char* const bytes = static_cast<const char*>(at);
  for (std::size_t offset = 0; offset < kWanted; offset += kLine) prefetch_line(bytes + offset);
  if constexpr (kLine % Bytes != 0 && Bytes % kLine != 0) prefetch_line(bytes + kWanted - 1);
}

}  // namespace parshall
