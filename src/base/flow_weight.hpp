// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace parshall {

/// Weight class of a flow, by its packets in 10 ms: below 8, from 8, from 16, and so on up to 512.
struct FlowWeight {
  static constexpr std::size_t kClasses = 8;
  static constexpr std::uint64_t kSpanNs = 10'000'000;

  static std::uint8_t of(std::uint64_t packets) noexcept {
    return static_cast<std::uint8_t>(std::min(static_cast<std::size_t>(std::bit_width(packets >> 3)), kClasses - 1));
  }
};

}  // namespace parshall
