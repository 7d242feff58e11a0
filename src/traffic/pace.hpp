// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <numbers>

namespace parshall {

/// Number of packets that have come by a time, at a constant rate or at one that swings between two.
class Pace {
 public:
  /// `most_pps` is the constant or the highest rate. `period_s` is the period of the swing, which begins at the lowest
  /// rate; 0 means constant.
  explicit Pace(double most_pps, double period_s = 0, double least_pps = 0) noexcept
      : most_pps_(most_pps), period_s_(period_s), least_pps_(least_pps) {}

  double packets_by(double s) const noexcept {
    if (period_s_ == 0) return most_pps_ * s;
    const double turns = 2 * std::numbers::pi / period_s_;
    return least_pps_ * s + (most_pps_ - least_pps_) / 2 * (s - std::sin(turns * s) / turns);
  }

 private:
  double most_pps_, period_s_, least_pps_;
};

}  // namespace parshall
