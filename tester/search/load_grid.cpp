// SPDX-License-Identifier: Apache-2.0
#include "tester/search/load_grid.hpp"

#include <algorithm>
#include <cmath>

namespace parshall::tester {
namespace {

constexpr int kMostStepsOfAWidth = 100;  // more is not needed for 1 %
constexpr double kStepRounding = 1e-3;   // a load computed from steps must give the same steps

double log_width(double width) noexcept { return -std::log1p(-width); }

}  // namespace

LoadGrid::LoadGrid(double min_load_pps, double max_load_pps, std::span<const SearchGoal> goals)
    : min_load_pps_(min_load_pps), max_load_pps_(max_load_pps) {
  const double range = std::log(max_load_pps / min_load_pps);
  const double narrowest = log_width(std::ranges::min_element(goals, {}, &SearchGoal::width)->width);
  const auto close = [&](const SearchGoal& goal) {
    return static_cast<double>(steps(goal.width)) * step_ >= 0.99 * log_width(goal.width);
  };
  for (int parts = 1; parts <= kMostStepsOfAWidth; ++parts) {
    last_ = static_cast<GridLoad>(std::ceil(range * parts / narrowest * (1 + kRounding)));
    step_ = range / static_cast<double>(last_);
    if (std::ranges::all_of(goals, close)) return;
  }
}

double LoadGrid::load_pps(GridLoad load) const noexcept {
  if (load <= 0) return min_load_pps_;
  if (load >= last_) return max_load_pps_;
  return min_load_pps_ * std::exp(static_cast<double>(load) * step_);
}

GridLoad LoadGrid::at_most(double load_pps) const noexcept {
  if (load_pps <= min_load_pps_) return 0;
  if (load_pps >= max_load_pps_) return last_;
  const double steps = std::log(load_pps / min_load_pps_) / step_;
  return std::clamp<GridLoad>(static_cast<GridLoad>(std::floor(steps + kStepRounding)), 0, last_);
}

GridBounds LoadGrid::bounds(const RelevantBounds& bounds) const noexcept {
  const auto of = [&](std::optional<double> load_pps) {
    return load_pps ? std::optional(at_most(*load_pps)) : std::nullopt;
  };
  return {.lower = of(bounds.lower_pps), .upper = of(bounds.upper_pps)};
}

GridLoad LoadGrid::steps(double width) const noexcept {
  return std::max<GridLoad>(1, static_cast<GridLoad>(std::floor(log_width(width) / step_)));
}

}  // namespace parshall::tester
