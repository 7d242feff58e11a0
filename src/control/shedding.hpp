// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall {

/// How many connections there are for one that is looked at, where the lightest states of all flows take longer than
/// there is: the least number that the packets of the others leave time for. A last resort: it rises, to twice at most,
/// only where windows one after the other lost packets though all flows had given way, and falls once there has been
/// time enough for a while.
///
/// Source: our own. What is sampled is known exactly, where packets that a full queue loses are not.
class Shedding {
 public:
  static constexpr std::uint32_t kMostOneIn = 1024;
  static constexpr double kShedNs = 15;  ///< to decode a packet and leave it, on one machine: rough

  static constexpr std::uint32_t kCalmWindows = 20;  ///< with time enough, before fewer are left: flows that come back
                                                     ///< have to be inserted

  struct Window {
    double target_ns = 0;                          ///< that a packet of all that came may take
    double lightest_ns = 0;                        ///< that a packet which is looked at takes in the lightest states
    std::uint64_t kept = 0, shed = 0, missed = 0;  ///< packets looked at, left, and lost for want of time
    double busy_share = 1;                         ///< of the time, that they took
    bool all_gave_way = true;                      ///< all packets looked at were treated as of the lightest states
  };

  /// The number from here on. A window of numbers that cannot be changes nothing.
  std::uint32_t end_window(const Window& window) noexcept;

  std::uint32_t one_in() const noexcept { return one_in_; }

  /// What a packet that is looked at may take, where one of all that come may take so long.
  double for_kept_ns(double target_ns) const noexcept { return for_kept_ns(target_ns, one_in_); }

 private:
  double for_kept_ns(double target_ns, std::uint32_t one_in) const noexcept;
  std::uint32_t least_for(double target_ns, double lightest_ns) const noexcept;

  std::uint32_t one_in_ = 1;
  std::uint32_t lost_windows_ = 0;            ///< in a row, in which nothing was left to give way and packets were lost
  std::uint32_t calm_windows_ = 0;            ///< in a row, in which fewer would have been left
  std::uint32_t calm_wanted_ = kCalmWindows;  ///< before fewer are: more, once that had to be undone
  bool fell_ = false;                         ///< it fell, and has not risen since
  double weight_ = 1;                         ///< packets looked at, of what the number of connections lets expect
};

}  // namespace parshall
