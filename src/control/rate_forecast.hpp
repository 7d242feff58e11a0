// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace parshall {

/// Forecasts the packet rate at the end of the next window from the counts of the windows so far.
///
/// A rising rate is extrapolated by a window and a half from the middle of the last one; a falling rate is not. A rate
/// that varies only by chance is averaged over some windows. Chance is estimated by Poisson's law, or by the
/// alternation of windows. For noise, the mean product of two successive differences is -sigma^2; if the rate rises or
/// falls, it is above 0.
///
/// Error:  a change within four sigma, which is at most 8 % of the rate and mostly 2 %, is followed over about three
///         windows.
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
  static constexpr double kChance = 4;        ///< standard deviations; one window in 16,000 exceeds them by chance
  static constexpr double kMostNoise = 0.02;  ///< relative to the rate; larger bursts are followed
  static constexpr double kSmoothing = 0.3, kForgetting = 0.1;

  bool is_known_ = false;
  double last_pps_ = 0, mean_pps_ = 0, last_difference_pps_ = 0;
  double alternation_ = 0;  ///< mean product of successive differences, pps^2
};

}  // namespace parshall
