// SPDX-License-Identifier: Apache-2.0
#pragma once
#define XXH_INLINE_ALL  // inputs here are short, of lengths known at compile time
#include <xxhash.h>

#include "pipeline/flow/hashes/input.hpp"

namespace parshall {

/// Source: Yann Collet, xxHash (library), XXH3_64bits.
struct Xxh3 {
  [[gnu::always_inline]] static std::uint64_t of(std::span<const std::uint8_t> bytes) noexcept {
    return XXH3_64bits(bytes.data(), bytes.size());
  }
};

}  // namespace parshall
