// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>

namespace parshall::tester {

/// State of 64 frames of a flow with consecutive sequences.
///
/// Shape:  32 bytes, two to a cache line: half a byte a frame.
struct FrameBlock {
  static constexpr unsigned kFrames = 64;

  std::uint64_t received = 0;     ///< a bit each, lowest sequence in the lowest bit
  std::uint64_t passed_none = 0;  ///< received frames after which no earlier frame has come
  std::uint64_t first_ns = 0;     ///< when the lowest received one should have been sent
  std::uint64_t last_ns = 0;      ///< the same for the highest

  static constexpr std::uint64_t bit(std::uint64_t sequence) noexcept { return std::uint64_t{1} << sequence % kFrames; }
  static constexpr std::uint64_t bits_above(std::uint64_t sequence) noexcept { return ~(bit(sequence) * 2 - 1); }

  bool has(std::uint64_t sequence) const noexcept { return (received & bit(sequence)) != 0; }

  void take(std::uint64_t sequence, std::uint64_t sent_ns) noexcept {
    if ((received & (bit(sequence) - 1)) == 0) first_ns = sent_ns;
    if ((received & bits_above(sequence)) == 0) last_ns = sent_ns;
    received |= bit(sequence);
    passed_none |= bit(sequence);
  }

  /// Returns when the received frame at `place` (0 to 63) should have been sent: exact for the lowest and the highest,
  /// interpolated between them for others.
  std::uint64_t sent_ns(unsigned place) const noexcept {
    const auto low = static_cast<unsigned>(std::countr_zero(received));
    const auto high = static_cast<unsigned>(63 - std::countl_zero(received));
    if (place == low) return first_ns;
    if (place == high) return last_ns;
    const auto span_ns = static_cast<std::int64_t>(last_ns - first_ns);
    return first_ns +
           static_cast<std::uint64_t>(span_ns * static_cast<int>(place - low) / static_cast<int>(high - low));
  }
};
static_assert(sizeof(FrameBlock) == 32);

}  // namespace parshall::tester
