// SPDX-License-Identifier: Apache-2.0
#include "control/shedding.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parshall {
namespace {

constexpr double kSlack = 1.15;            ///< relative to the lightest states' time, before n falls
constexpr double kIdle = 0.4;              ///< share of all time: if less, n halves in any case
constexpr std::uint32_t kMostCalm = 640;   ///< flows that come back may have more packets than others
constexpr std::uint32_t kLostWindows = 5;  ///< before n rises: one may be due to a burst, or to wrong costs
constexpr double kLearning = 0.3;          ///< share of the difference per window
constexpr double kLeastWeight = 0.01;

}  // namespace

/// Returns the time available for an inspected packet of one in n connections.
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
  // Few packets teach nothing, so an idle worker does not rely on learnt costs.
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
