// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parshall::lab {

/// How long threads that poll a queue were kept from polling.
struct PollGaps {
  double p999_us = 0;  ///< from one poll to the next: not exceeded by 99.9 % of them
  double max_us = 0;   ///< likewise, the longest
  /// Modelled, not measured: the share of packets lost, had they come evenly at kRateMpps to a queue of kQueuePackets
  /// that every poll empties.
  double modelled_loss = 0;

  static constexpr double kRateMpps = 14.88;  ///< 10 GbE of 64-byte frames
  static constexpr double kQueuePackets = 4096;
};

/// Times from one poll to the next.
///
/// Shape:  a histogram by the cycle of those below 4096 cycles; the others one by one.
class GapCounter {
 public:
  GapCounter() : short_(kShort) { long_.reserve(std::size_t{1} << 17); }

  void add(std::uint64_t cycles) noexcept {
    if (cycles < kShort)
      ++short_[cycles];
    else
      long_.push_back(cycles);
  }
  void add(const GapCounter& other);

  /// All zero without gaps.
  PollGaps figures(double cycles_per_ns) const;

 private:
  static constexpr std::size_t kShort = 4096;
  std::vector<std::uint64_t> short_, long_;
};

}  // namespace parshall::lab
