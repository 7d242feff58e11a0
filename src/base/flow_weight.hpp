// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace parshall {

/// Weight class of a flow, by its packets in 10 ms: below 8, from 8, from 16, and so on up to 512.
struct FlowWeight {
  static constexpr std::size_t kClasses = 8;
  static constexpr std::uint64_t kSpanNs = 10'000'000;
  /// Flows per packet of a window of kSpanNs, by class; rough, from traffic whose flows are of Zipf's sizes.
  static constexpr std::array<double, kClasses> kFlowsPerPacket{0.4,      1.0 / 11,  1.0 / 23,  1.0 / 45,
                                                                1.0 / 90, 1.0 / 180, 1.0 / 360, 1.0 / 700};

  /// Returns the fewest packets of a class in kSpanNs.
  static constexpr std::uint64_t least_packets(std::size_t weight) noexcept {
    return weight == 0 ? 0 : std::uint64_t{4} << weight;
  }

  static std::uint8_t of(std::uint64_t packets) noexcept {
    return static_cast<std::uint8_t>(std::min(static_cast<std::size_t>(std::bit_width(packets >> 3)), kClasses - 1));
  }
};

}  // namespace parshall
