// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <numbers>

namespace parshall {

/// How many packets have come by a time: at a constant rate, or at one that swings between none and twice its mean.
class Pace {
 public:
  /// `most_pps`: the constant rate, or the highest; `period_s`: of the swing, which begins without packets; 0:
  /// constant.
  explicit Pace(double most_pps, double period_s = 0) noexcept : most_pps_(most_pps), period_s_(period_s) {}

  double packets_by(double s) const noexcept {
    if (period_s_ == 0) return most_pps_ * s;
    const double turns = 2 * std::numbers::pi / period_s_;
    return most_pps_ / 2 * (s - std::sin(turns * s) / turns);
  }

 private:
  double most_pps_, period_s_;
};

}  // namespace parshall
