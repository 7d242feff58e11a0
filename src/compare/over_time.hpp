// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>

#include "compare/delay_counts.hpp"
#include "compare/passed.hpp"

namespace parshall {

/// The packets of one interval of time. A packet belongs to the interval in which it was sent; one that was not seen at
/// its sender's side, to that in which it arrived.
struct ComparedInterval {
  std::uint64_t begin_ns, end_ns;
  bool is_whole;  ///< the taps watched all of it
  Passed there, back;

  Passed& total(Way way) noexcept { return way == Way::there ? there : back; }
};

/// Counts packets by intervals of a comparison that goes on. Packets that change on the way are lost and extra here;
/// only the end shows whether all of a flow do.
///
/// Shape: kMost intervals, and a DelayCounts for each way and each interval that has not ended.
class OverTime {
 public:
  static constexpr std::size_t kMost = 3600;

  /// The taps watch from `begin_ns` on.
  OverTime(std::uint64_t begin_ns, std::uint64_t length_ns) : watched_from_ns_(begin_ns), length_ns_(length_ns) {}

  void add_pair(Way way, std::uint64_t sent_ns);
  /// Adds to a pair that was added how long it took. `step_ns` is its delay less that of the packet before.
  void add_delay(Way way, std::uint64_t sent_ns, std::int64_t delay_ns, std::optional<std::int64_t> step_ns);
  void add_reordered(Way way, std::uint64_t sent_ns);

  /// Adds a packet that one point alone saw: the sender's, as `lost` or `outside_sent`, or the receiver's, as another
  /// count.
  void add_single(Way way, std::uint64_t time_ns, std::uint64_t Passed::*count);

  /// Ends the intervals before `time_ns`, to which nothing more will be added.
  void end_before(std::uint64_t time_ns);
  /// Ends all intervals. The taps watched until `end_ns`.
  void end(std::uint64_t end_ns);

  /// Returns the intervals that ended, at most kMost of the latest ones, without gaps.
  const std::deque<ComparedInterval>& ended() const noexcept { return ended_; }
  /// Returns the sums of all intervals that ever ended, without delays.
  const Passed& total(Way way) const noexcept { return totals_[index(way)]; }
  struct DelaySum {
    std::uint64_t packets = 0, ns = 0;
  };
  const DelaySum& delays(Way way) const noexcept { return delays_[index(way)]; }

 private:
  struct OneWay {
    Passed passed;
    DelayCounts delays;
    double steps = 0;
    std::uint64_t step_count = 0;

    Passed summary() const;
  };
  OneWay& at(Way way, std::uint64_t time_ns) { return open_[std::max(time_ns / length_ns_, next_)][index(way)]; }
  void end_empty_before(std::uint64_t number);
  void end_one(std::uint64_t number);

  std::uint64_t watched_from_ns_, watched_to_ns_ = std::numeric_limits<std::uint64_t>::max(), length_ns_;
  std::map<std::uint64_t, std::array<OneWay, 2>> open_;  ///< by number of the interval
  std::deque<ComparedInterval> ended_;
  std::array<Passed, 2> totals_;
  std::array<DelaySum, 2> delays_;
  std::uint64_t next_ = 0;  ///< number of the interval behind the last one that ended
};

}  // namespace parshall
