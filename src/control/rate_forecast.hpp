// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace parshall {

/// At which rate packets come at the next window's end, by how many came in the windows up to now.
///
/// A rate that moves is taken to go on as it rises: a window and a half behind the middle of the last one, and not to
/// fall. One that only varies by chance is the mean of some windows. Chance is what Poisson's law says, or what windows
/// were seen to go up and down by in turn: the product of two differences that follow each other is -sigma^2 on average
/// for noise, and above 0 where the rate rises or falls.
///
/// Error:  a change within four sigma, at most 8 % of the rate and mostly 2 %, is followed over some three windows.
class RateForecast {
 public:
  double add_window(std::uint64_t packets, double window_ns) noexcept {
    const double rate_pps = static_cast<double>(packets) * 1e9 / window_ns;
    if (!is_known_) last_pps_ = mean_pps_ = rate_pps;
    is_known_ = true;
    const double difference_pps = rate_pps - last_pps_;
    alternation_ += kForgetting * (difference_pps * last_difference_pps_ - alternation_);
    const double by_poisson_pps = std::sqrt(static_cast<double>(packets)) * 1e9 / window_ns;
    const double seen_pps = std::min(std::sqrt(std::max(0.0, -alternation_)), kMostNoise * mean_pps_);
    const bool is_steady = std::abs(rate_pps - mean_pps_) <= kChance * std::max(by_poisson_pps, seen_pps);
    mean_pps_ += (is_steady ? kSmoothing : 1) * (rate_pps - mean_pps_);
    last_pps_ = rate_pps;
    last_difference_pps_ = difference_pps;
    return mean_pps_ + (is_steady ? 0 : kWindowsAhead * std::max(0.0, difference_pps));
  }

 private:
  static constexpr double kWindowsAhead = 1.5;
  static constexpr double kChance = 4;        ///< standard deviations that one window in 16,000 is off by
  static constexpr double kMostNoise = 0.02;  ///< of the rate; bursts beyond are followed
  static constexpr double kSmoothing = 0.3, kForgetting = 0.1;

  bool is_known_ = false;
  double last_pps_ = 0, mean_pps_ = 0, last_difference_pps_ = 0;
  double alternation_ = 0;  ///< mean product of differences that follow each other, pps^2
};

}  // namespace parshall
