// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"

namespace parshall {

/// Tells packets that repeat another one of their flow within a tenth of a second, by their names (PacketNames).
///
/// Shape: 16,384 sets of 7 names, each set in a cache line: 1 MB.
/// Cost:  a cache line for each packet; call prefetch() early.
/// Error: a repeat is missed if 7 other packets fell into its set meanwhile. At 1 Mpps, these are four in a million of
///        those that come 10 ms later, and 4 % of those that come 50 ms later. Different packets are taken for the same
///        with probability 2^-50.
class RecentNames {
 public:
  static constexpr std::uint64_t kLongestNs = 100'000'000;
  static constexpr std::size_t kBytes = std::size_t{1} << 20;

  RecentNames() : sets_(kSets) {}
  void populate() noexcept { sets_.populate(); }

  void prefetch(std::uint32_t row, std::uint64_t name) const noexcept { prefetch_line(&sets_[set_of(row, name)]); }

  /// Adds the next packet of the flow in that row. Returns whether it is a repeat.
  bool add(std::uint32_t row, std::uint64_t name, std::uint64_t time_ns) noexcept {
    const std::uint64_t mixed = mix(row, name), stamp = time_ns >> kStampShift & kStampMask;
    const std::uint64_t entry = (mixed & ~kStampMask) | stamp, print = mixed >> (64 - kPrintBits);
    Set& set = sets_[mixed & (kSets - 1)];
    const std::uint64_t differs = set.prints ^ print * kEachPrint;
    // Bytes that are 0, and sometimes one above; by Mycroft.
    for (std::uint64_t equal = (differs - kEachPrint) & ~differs & kEachPrint << (kPrintBits - 1); equal != 0;
         equal &= equal - 1) {
      std::uint64_t& known = set.names[static_cast<unsigned>(std::countr_zero(equal)) / kPrintBits];
      if (((known ^ entry) & ~kStampMask) != 0) continue;
      const std::uint64_t later = (stamp - known) & kStampMask;
      known = entry;
      return later <= kLongest || later >= kStampMask + 1 - kLongest;
    }
    const std::uint64_t oldest = set.prints >> kOldestShift;
    set.names[oldest] = entry;
    const std::uint64_t next = oldest + 1 == kWays ? 0 : oldest + 1;
    set.prints = (set.prints & ~(kPrintMask << oldest * kPrintBits) & kPrints) | print << oldest * kPrintBits |
                 next << kOldestShift;
    return false;
  }

 private:
  static constexpr std::size_t kSets = kBytes / 64, kWays = 7;
  static constexpr unsigned kStampShift = 17, kStampBits = 24;  ///< 131 us each, for 37 minutes
  static constexpr std::uint64_t kStampMask = (std::uint64_t{1} << kStampBits) - 1,
                                 kLongest = kLongestNs >> kStampShift;
  static constexpr unsigned kPrintBits = 8, kOldestShift = kWays * kPrintBits;
  static constexpr std::uint64_t kPrintMask = (1u << kPrintBits) - 1, kPrints = (std::uint64_t{1} << kOldestShift) - 1,
                                 kEachPrint = 0x01'0101'0101'0101;

  struct alignas(64) Set {
    std::uint64_t prints;                    ///< the highest 8 bits of each name, and the place of the oldest
    std::array<std::uint64_t, kWays> names;  ///< the highest 40 bits of each, and when it was seen
  };
  static_assert(sizeof(Set) == 64);

  static std::uint64_t mix(std::uint32_t row, std::uint64_t name) noexcept {
    return name ^ row * 0x9E37'79B9'7F4A'7C15;
  }
  static std::size_t set_of(std::uint32_t row, std::uint64_t name) noexcept { return mix(row, name) & (kSets - 1); }

  HugeBuffer<Set> sets_;
};

}  // namespace parshall
