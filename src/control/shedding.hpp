// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall {

/// Decides n, where one in n connections is inspected, if even the lightest states of all flows take longer than the
/// time available. It is the least number that leaves enough time. As a last resort it rises slowly: at most to twice,
/// and only if successive windows lost packets although all flows were reduced. It falls once there has been time
/// enough for a while.
///
/// Source: our own. The sampled share is known exactly, unlike the packets that a full queue loses.
class Shedding {
 public:
  static constexpr std::uint32_t kMostOneIn = 1024;
  static constexpr double kShedNs = 15;  ///< to decode a packet and shed it; rough, from one machine

  static constexpr std::uint32_t kCalmWindows = 20;  ///< calm windows before n falls, since returning flows cost time

  struct Window {
    double target_ns = 0;                          ///< time available for each packet that comes
    double lightest_ns = 0;                        ///< cost of an inspected packet in the lightest states
    std::uint64_t kept = 0, shed = 0, missed = 0;  ///< packets inspected, shed, and lost for lack of time
    double busy_share = 1;                         ///< share of time they took
    bool all_gave_way = true;                      ///< all inspected packets were in the lightest states
  };

  /// Ends a window and returns n from now on. Invalid windows change nothing.
  std::uint32_t end_window(const Window& window) noexcept;

  std::uint32_t one_in() const noexcept { return one_in_; }

  /// Returns the time available for an inspected packet, given that for any packet that comes.
  double for_kept_ns(double target_ns) const noexcept { return for_kept_ns(target_ns, one_in_); }

 private:
  double for_kept_ns(double target_ns, std::uint32_t one_in) const noexcept;
  std::uint32_t least_for(double target_ns, double lightest_ns) const noexcept;

  std::uint32_t one_in_ = 1;
  std::uint32_t lost_windows_ = 0;            ///< successive windows with losses and nothing left to reduce
  std::uint32_t calm_windows_ = 0;            ///< successive windows that could have used a smaller n
  std::uint32_t calm_wanted_ = kCalmWindows;  ///< windows before n falls; more after a fall that had to be undone
  bool fell_ = false;                         ///< n fell, and has not risen since
  double weight_ = 1;                         ///< packets inspected, relative to the share of connections
};

}  // namespace parshall
