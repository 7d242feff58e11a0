// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

namespace parshall {

/// Converts the time stamps of one pcapng interface into nanoseconds since 1970, by if_tsresol and if_tsoffset.
///
/// Error: exact, rounded down to the nanosecond; clamped to [0, 2^64 - 1] ns, which valid files never reach.
/// Source: draft-ietf-opsawg-pcapng, section 4.2.
class PcapngClock {
 public:
  /// `resolution` is the if_tsresol byte: the top bit is clear for a power of ten and set for a power of two.
  constexpr explicit PcapngClock(std::uint8_t resolution = 6, std::int64_t offset_seconds = 0) noexcept
      : offset_seconds_(offset_seconds) {
    const unsigned exponent = resolution & 0x7fu;
    if ((resolution & 0x80) != 0) {
      multiplier_ = kNsPerSecond;
      shift_ = exponent;
      return;
    }
    if (exponent <= 9) {
      multiplier_ = power_of_ten(9 - exponent);
    } else if (exponent - 9 <= kMaxPowerOfTen) {
      multiplier_ = 1;
      divisor_ = power_of_ten(exponent - 9);
    }  // finer units: every 64-bit stamp is below a nanosecond, so the multiplier stays 0
  }

  constexpr std::uint64_t time_ns(std::uint64_t stamp) const noexcept {
    Wide ns = static_cast<Wide>(stamp) * multiplier_ >> shift_;
    if (divisor_ != 1) ns /= divisor_;
    ns += static_cast<Wide>(offset_seconds_) * kNsPerSecond;
    constexpr Wide kMax = std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(ns < 0 ? 0 : ns > kMax ? kMax : ns);
  }

 private:
  __extension__ using Wide = __int128;  // a stamp times 10^9 stays below 2^94
  static constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  static constexpr unsigned kMaxPowerOfTen = 19;  ///< largest that fits in 64 bits

  static constexpr std::uint64_t power_of_ten(unsigned exponent) noexcept {
    std::uint64_t value = 1;
    while (exponent-- > 0) value *= 10;
    return value;
  }

  std::int64_t offset_seconds_;
  std::uint64_t multiplier_ = 0;
  std::uint64_t divisor_ = 1;
  unsigned shift_ = 0;
};

}  // namespace parshall
