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

/// What became of the packets of one interval of time. A packet belongs to the interval in which it was sent; one that
/// was not seen at its sender's side, to that in which it arrived.
struct ComparedInterval {
  std::uint64_t begin_ns, end_ns;
  Passed there, back;

  Passed& total(Way way) noexcept { return way == Way::there ? there : back; }
};

/// Counts packets by intervals of a comparison that goes on. A flow whose packets all change on the way has none of
/// them.
///
/// Shape: kMost intervals, and a DelayCounts for each way and each interval that has not ended.
class OverTime {
 public:
  static constexpr std::size_t kMost = 3600;

  explicit OverTime(std::uint64_t length_ns) : length_ns_(length_ns) {}

  void add_pair(Way way, std::uint64_t sent_ns);
  /// Adds to a pair that was added how long it took. `step_ns` is its delay less that of the packet before.
  void add_delay(Way way, std::uint64_t sent_ns, std::int64_t delay_ns, std::optional<std::int64_t> step_ns);
  void add_reordered(Way way, std::uint64_t sent_ns);

  /// What a packet is that one point alone saw.
  enum class Alone : std::uint8_t { lost, outside_sent, duplicated, extra, outside_received };
  void add_single(Way way, std::uint64_t time_ns, Alone what);

  /// Ends the intervals before `time_ns`, to which nothing more will be added.
  void end_before(std::uint64_t time_ns);
  void end() { end_before(std::numeric_limits<std::uint64_t>::max()); }

  /// Returns the intervals that ended, at most kMost of the latest ones, without gaps.
  const std::deque<ComparedInterval>& ended() const noexcept { return ended_; }
  /// Returns the sums of all intervals that ever ended; of delays, the number and the mean.
  const ComparedInterval& total() const noexcept { return total_; }

 private:
  struct OneWay {
    Passed passed;
    DelayCounts delays;
    double steps = 0;
    std::uint64_t step_count = 0;

    Passed summary() const;
  };
  OneWay& at(Way way, std::uint64_t time_ns) {
    return open_[std::max(time_ns / length_ns_, next_)][static_cast<std::size_t>(way)];
  }
  void end_one(std::uint64_t number);

  std::uint64_t length_ns_;
  std::map<std::uint64_t, std::array<OneWay, 2>> open_;  ///< by number of the interval
  std::deque<ComparedInterval> ended_;
  ComparedInterval total_{};
  std::uint64_t next_ = 0;  ///< number of the interval behind the last one that ended
};

}  // namespace parshall
