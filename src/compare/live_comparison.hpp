// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compare/comparison.hpp"
#include "compare/delay_counts.hpp"
#include "compare/over_time.hpp"
#include "compare/pairing.hpp"

namespace parshall {

/// Compares two taps while packets arrive. Both must have the same clock, as two interfaces of one host have. Add what
/// each tap saw, and call settle() about once in the time that a packet may need from one tap to the other.
///
/// Shape:  32 bytes for each packet of two such times, some 500 bytes a flow.
/// Error:  none of the counts, if no packet takes longer than the time between two calls of settle(). What arrives
///         later was lost, and is extra. Percentiles: see DelayCounts.
/// Errors: throws std::bad_alloc.
class LiveComparison {
 public:
  /// Limits what is kept of a long run.
  struct Limits {
    std::size_t flows = std::size_t{1} << 18;   ///< beyond, flows are folded into the totals: whole ones first, then
                                                ///< those without packets for the longest time
    std::uint64_t interval_ns = 1'000'000'000;  ///< length of over_time()'s
  };

  /// Both taps watch from `begin_ns` on. What one tap alone saw until the first call of settle() may have been sent
  /// before, unless its flow is known to start there.
  LiveComparison(std::uint64_t seed, std::uint64_t begin_ns, Limits limits);

  Tap& up() noexcept { return up_; }
  Tap& down() noexcept { return down_; }
  FlowNumbers& flows() noexcept { return numbers_; }

  /// Judges the packets that were there when this was last called: both taps have seen since what they were to see.
  /// All packets that they saw before `until_ns` have been added.
  void settle(std::uint64_t until_ns);

  /// Judges all packets. Those from `end_ns` on may not have had the time to arrive.
  void end(std::uint64_t end_ns);

  /// Returns what was judged until now.
  Comparison result() const;

  /// Returns what was judged of each interval of time that is over.
  const OverTime& over_time() const noexcept { return over_time_; }

 private:
  struct Flow {
    FlowCount count;
    std::optional<Way> way;
    std::int64_t hops =
        0;  ///< while the way is not known: packets with a lower TTL at DOWN, less those with a higher one
    double later_ns = 0;  ///< likewise: how much later packets pass DOWN
    Arrivals arrivals;
    DelayCounts delays;
    std::uint64_t first_up_ns = kNever, last_up_ns = 0, first_down_ns = kNever, last_down_ns = 0;

    std::uint64_t last_ns() const noexcept { return last_up_ns > last_down_ns ? last_up_ns : last_down_ns; }
  };
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  void judge(Pairer::Which which);
  void find_ways(const Pairing& pairing);
  void count_pairs(std::vector<Pair>& pairs);
  void count_single(const Single& single, bool is_up);
  void fold_flows();
  Way way_of(std::size_t flow) const;
  Delays delays(Way way) const;

  Limits limits_;
  std::uint64_t begin_ns_, end_ns_ = kNever;
  FlowNumbers numbers_;
  Tap up_, down_;
  Pairer pairer_;
  std::vector<Flow> flows_;
  std::uint64_t same_ways_ = 0, other_ways_ = 0;  ///< connections of which both directions are known to go that way
  unsigned judgements_ = 0;                       ///< of the first two, packets may have been sent before the beginning
  std::uint64_t until_ns_ = 0, judged_ns_ = 0;    ///< packets before were added, or judged
  OverTime over_time_;
  Comparison ended_;  ///< without its flows: totals of those that were folded
  struct {
    DelayCounts delays;
    double steps = 0;
    std::uint64_t step_count = 0;
  } all_[2];
};

}  // namespace parshall
