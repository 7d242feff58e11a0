// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
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

  /// When so many had come.
  double time_of(double packets) const noexcept {
    if (period_s_ == 0) return packets / most_pps_;
    const double mean_s = 2 * packets / most_pps_, most_off_s = period_s_ / (2 * std::numbers::pi);
    double low_s = std::max(0.0, mean_s - most_off_s), high_s = mean_s + most_off_s;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle_s = (low_s + high_s) / 2;
      (packets_by(middle_s) < packets ? low_s : high_s) = middle_s;
    }
    return high_s;
  }

 private:
  static constexpr int kHalvings = 32;  ///< a third of the period to less than a ns, of periods up to seconds

  double most_pps_, period_s_;
};

}  // namespace parshall
