// SPDX-License-Identifier: Apache-2.0
#include "tester/search/mlr_search.hpp"

#include <algorithm>

namespace parshall::tester {

Result<std::unique_ptr<Search>> MlrSearch::make(SearchPlan plan) {
  if (auto problem = problem_of(plan)) return *problem;
  return std::unique_ptr<Search>(new MlrSearch(std::move(plan)));
}

MlrSearch::MlrSearch(SearchPlan given)
    : Search(std::move(given)), grid_(plan().min_load_pps, plan().max_load_pps, plan().goals) {
  for (const SearchGoal& goal : plan().goals) {
    focuses_.emplace_back(goal, grid_);
    width_ = std::max(width_, focuses_.back().coarsest_width());
    first_duration_s_ = std::max(first_duration_s_, goal.initial_trial_s);
    least_loss_ratio_ = std::min(least_loss_ratio_, goal.loss_ratio);
  }
}

std::optional<TrialInput> MlrSearch::wanted() {
  if (!is_focused_) {
    if (const auto load = first_trial())
      return TrialInput{.load_pps = grid_.load_pps(*load), .duration_s = first_duration_s_};
    focus_all();
  }
  // Prefer the least load: its result is less likely to be overruled later (RFC 9971, section 5.3.4).
  std::optional<GridTrial> winner;
  for (GoalFocus& focus : focuses_) {
    const auto trial = focus.nominate(log());
    if (!trial) continue;
    const bool is_less = !winner || trial->load < winner->load;
    if (is_less || (trial->load == winner->load && trial->duration_s > winner->duration_s)) winner = trial;
  }
  if (!winner) return std::nullopt;
  return TrialInput{.load_pps = grid_.load_pps(winner->load), .duration_s = winner->duration_s};
}

/// Returns the next first trial. The load forwarded at the greatest load (FRMOL: RFC 2285, section 3.6.2) is near the
/// goal for most devices; the load forwarded at that one is nearer.
std::optional<GridLoad> MlrSearch::first_trial() const {
  const auto trials = log().trials();
  if (trials.empty()) return grid_.last();
  const GridLoad first = forwarded(trials[0]);
  if (first >= grid_.last() || trials.size() >= 3) return std::nullopt;
  const GridLoad second = first < width_ ? 0 : std::min(first, std::max<GridLoad>(0, grid_.last() - width_));
  if (trials.size() == 1) return second;
  if (trials[1].loss_ratio() <= least_loss_ratio_) {
    return grid_.last() - second > 2 * width_ ? std::optional(second + width_) : std::nullopt;
  }
  const GridLoad third = forwarded(trials[1]);
  if (second <= width_ || third >= second) return std::nullopt;
  return third < width_ ? 0 : third;
}

/// Returns the load that would have lost as much as the strictest goal allows, if everything above was lost.
GridLoad MlrSearch::forwarded(const TrialOutcome& outcome) const {
  return grid_.at_most(outcome.load_pps * (1 - outcome.loss_ratio()) / (1 - least_loss_ratio_));
}

void MlrSearch::focus_all() {
  const auto trials = log().trials();
  const auto load = [&](std::size_t trial) { return grid_.at_most(trials[trial].load_pps); };
  const GridLoad last = load(trials.size() - 1), other = trials.size() > 2 ? load(1) : last;
  for (GoalFocus& focus : focuses_) focus.look_between(std::min(last, other), std::max(last, other));
  is_focused_ = true;
}

}  // namespace parshall::tester
