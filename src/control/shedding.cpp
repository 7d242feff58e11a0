// SPDX-License-Identifier: Apache-2.0
#include "control/shedding.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parshall {
namespace {

constexpr double kSlack = 1.15;            ///< of the lightest states' time, before fewer are left
constexpr double kIdle = 0.4;              ///< of all time: then twice as many can be looked at, whatever is known
constexpr std::uint32_t kMostCalm = 640;   ///< flows that are looked at again may have more packets than others
constexpr std::uint32_t kLostWindows = 5;  ///< before any are left, or more: one may be of a burst, or of wrong costs
constexpr double kLearning = 0.3;          ///< of the difference, each window
constexpr double kLeastWeight = 0.01;

}  // namespace

/// Of packets of one in so many.
double Shedding::for_kept_ns(double target_ns, std::uint32_t one_in) const noexcept {
  const double share = one_in == 1 ? 1 : std::min(1.0, weight_ / one_in);
  return (target_ns - (1 - share) * kShedNs) / share;
}

std::uint32_t Shedding::least_for(double target_ns, double lightest_ns) const noexcept {
  std::uint32_t low = 1, high = kMostOneIn;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (for_kept_ns(target_ns, middle) >= lightest_ns)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

std::uint32_t Shedding::end_window(const Window& window) noexcept {
  if (!std::isfinite(window.target_ns) || !std::isfinite(window.lightest_ns)) return one_in_;
  const auto came = static_cast<double>(window.kept + window.shed);
  if (one_in_ != 1 && came > 0) {
    const double weight = static_cast<double>(window.kept) / came * one_in_;
    weight_ += kLearning * (std::clamp<double>(weight, kLeastWeight, one_in_) - weight_);
  }
  const bool is_idle = window.missed == 0 && window.busy_share < kIdle;
  const std::uint32_t least = is_idle ? 1 : least_for(window.target_ns, window.lightest_ns);
  if (least > one_in_) {
    calm_windows_ = 0;
    lost_windows_ = window.missed != 0 && window.all_gave_way ? lost_windows_ + 1 : 0;
    if (lost_windows_ < kLostWindows) return one_in_;
    lost_windows_ = 0;
    if (std::exchange(fell_, false)) calm_wanted_ = std::min(2 * calm_wanted_, kMostCalm);
    return one_in_ = std::min(least, 2 * one_in_);
  }
  lost_windows_ = 0;
  // Of few packets nothing is learnt: an idle worker need not believe what it knows of its costs.
  const std::uint32_t enough = is_idle ? 1 : least_for(window.target_ns, kSlack * window.lightest_ns);
  calm_windows_ = enough < one_in_ && window.missed == 0 ? calm_windows_ + 1 : 0;
  if (calm_windows_ < calm_wanted_) return one_in_;
  calm_windows_ = 0;
  if (std::exchange(fell_, true)) calm_wanted_ = std::max(calm_wanted_ / 2, kCalmWindows);
  one_in_ = std::max(enough, one_in_ / 2);
  if (one_in_ == 1) weight_ = 1;
  return one_in_;
}

}  // namespace parshall
