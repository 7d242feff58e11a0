// SPDX-License-Identifier: Apache-2.0
#include "tester/search/goal_focus.hpp"

#include <algorithm>
#include <cmath>

namespace parshall::tester {
namespace {

constexpr int kCoarseTargets = 2;

double whole_ms(double seconds) noexcept { return std::round(seconds * 1e3) / 1e3; }

}  // namespace

GoalFocus::GoalFocus(const SearchGoal& goal, const LoadGrid& grid) : grid_(grid) {
  const GridLoad width = grid.steps(goal.width);
  // Duration sums grow by equal factors from one initial trial to the goal's, while widths halve.
  const double growth = goal.duration_sum_s / goal.initial_trial_s;
  for (int coarser = growth > 1 ? kCoarseTargets : 0; coarser > 0; --coarser) {
    SearchGoal coarse = goal;
    coarse.duration_sum_s = whole_ms(goal.duration_sum_s / std::pow(growth, double(coarser) / kCoarseTargets));
    coarse.final_trial_s = std::min(goal.final_trial_s, coarse.duration_sum_s);
    targets_.push_back({.goal = coarse, .width = width << coarser});
  }
  targets_.push_back({.goal = goal, .width = width});
}

void GoalFocus::look_between(GridLoad lower, GridLoad upper) {
  hints_ = {.lower = lower, .upper = upper};
  step_ = 2 * std::max(target().width, upper - lower);
}

std::optional<GridTrial> GoalFocus::nominate(const TrialLog& log) {
  for (;; ++stage_) {
    const GridBounds bounds = grid_.bounds(log.relevant_bounds(target().goal));
    widen_after_extension(bounds);
    if (const auto load = candidate(bounds)) return GridTrial{.load = *load, .duration_s = target().goal.final_trial_s};
    if (stage_ + 1 == targets_.size()) return std::nullopt;
    hints_ = bounds;
    step_ = 2 * targets_[stage_ + 1].width;
  }
}

/// Doubles the step after one that did not go far enough.
void GoalFocus::widen_after_extension(const GridBounds& bounds) noexcept {
  if (!extended_) return;
  if (extended_->load == (extended_->direction == Direction::up ? bounds.lower : bounds.upper)) step_ *= 2;
  extended_.reset();
}

std::optional<GridLoad> GoalFocus::candidate(const GridBounds& bounds) {
  if (bounds.lower && bounds.upper && *bounds.upper - *bounds.lower <= target().width) return std::nullopt;
  if (const auto load = hinted(bounds)) return load;
  if (bounds.lower && bounds.upper) return middle(*bounds.lower, *bounds.upper);
  if (bounds.upper) return *bounds.upper > 0 ? std::optional(extend(*bounds.upper, Direction::down)) : std::nullopt;
  if (bounds.lower)
    return *bounds.lower < grid_.last() ? std::optional(extend(*bounds.lower, Direction::up)) : std::nullopt;
  return grid_.last();
}

/// Returns the load between the hints if only that is left to try; otherwise a hint, if it would be informative.
std::optional<GridLoad> GoalFocus::hinted(const GridBounds& bounds) const {
  const auto is_worth = [&](GridLoad load) {
    if (bounds.lower && load <= *bounds.lower) return false;
    if (bounds.upper && load >= *bounds.upper) return false;
    return true;
  };
  if (hints_.lower && hints_.upper) {
    const GridLoad gap = *hints_.upper - *hints_.lower;
    const GridLoad load = middle(*hints_.lower, *hints_.upper);
    if (gap > target().width && gap <= 2 * target().width && is_worth(load)) return load;
  }
  if (hints_.lower && is_worth(*hints_.lower)) return hints_.lower;
  if (hints_.upper && is_worth(*hints_.upper)) return hints_.upper;
  return std::nullopt;
}

GridLoad GoalFocus::extend(GridLoad load, Direction direction) {
  const GridLoad next = std::clamp<GridLoad>(direction == Direction::up ? load + step_ : load - step_, 0, grid_.last());
  extended_ = {.load = next, .direction = direction};
  return next;
}

/// Returns where to divide the interval. The upper part is the power of two of widths nearest to half of it, so that it
/// can be bisected to the end without a remainder. Of two equally near, the greater one, since lower loads are
/// overruled less often. An interval of one to two widths is halved.
GridLoad GoalFocus::middle(GridLoad lower, GridLoad upper) const noexcept {
  const GridLoad gap = upper - lower;
  GridLoad part = target().width;
  if (gap < 2 * part) return lower + gap / 2;
  while (4 * part <= gap) part *= 2;
  return upper - (gap < 3 * part ? part : 2 * part);
}

}  // namespace parshall::tester
