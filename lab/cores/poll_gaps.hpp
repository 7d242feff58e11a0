// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parshall::lab {

/// How long polling threads were kept from polling.
struct PollGaps {
  double p999_us = 0;  ///< 99.9th percentile of the time between polls
  double max_us = 0;   ///< the longest time between polls
  /// Share of packets lost in a model: packets come evenly at kRateMpps to a queue of kQueuePackets, which every poll
  /// empties.
  double modelled_loss = 0;

  static constexpr double kRateMpps = 14.88;  ///< 10 GbE of 64-byte frames
  static constexpr double kQueuePackets = 4096;
};

/// Collects the times between polls.
///
/// Shape:  a histogram with one bin per cycle below 4096 cycles; longer times are stored individually.
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

  /// Returns the figures; all are zero without gaps.
  PollGaps figures(double cycles_per_ns) const;

 private:
  static constexpr std::size_t kShort = 4096;
  std::vector<std::uint64_t> short_, long_;
};

}  // namespace parshall::lab
