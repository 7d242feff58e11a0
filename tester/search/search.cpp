// SPDX-License-Identifier: Apache-2.0
#include "tester/search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "tester/search/load_class.hpp"

namespace parshall::tester {
namespace {

constexpr double kLeastLoadPps = 1e-3, kGreatestLoadPps = 1e12;

}  // namespace

std::optional<Error> problem_of(const SearchPlan& plan) {
  if (auto problem = problem_of(plan.goals)) return problem;
  if (!(plan.min_load_pps >= kLeastLoadPps))
    return Error{
        fmt::format("the smallest load must be at least {} packets/s, not {:.9g}", kLeastLoadPps, plan.min_load_pps)};
  if (!(plan.max_load_pps > plan.min_load_pps && plan.max_load_pps <= kGreatestLoadPps))
    return Error{
        fmt::format("the largest load must be above the smallest ({:.9g}) and at most {} packets/s, not {:.9g}",
                    plan.min_load_pps, kGreatestLoadPps, plan.max_load_pps)};
  if (plan.budget.trials && *plan.budget.trials == 0) return Error{"a search needs a budget of at least one trial"};
  if (plan.budget.trial_s && !(*plan.budget.trial_s > 0))
    return Error{fmt::format("a search needs a budget of more than {:.6g} s", *plan.budget.trial_s)};
  return std::nullopt;
}

SearchEnd Search::budget_end(const TrialInput& trial) const noexcept {
  const SearchBudget& budget = plan_.budget;
  if (budget.trials && log_.trials().size() >= *budget.trials) return SearchEnd::trials_used_up;
  if (budget.trial_s && log_.trial_s() + trial.duration_s > *budget.trial_s * (1 + kRounding))
    return SearchEnd::time_used_up;
  return SearchEnd::not_yet;
}

std::optional<TrialInput> Search::next() {
  if (now_ || end_ != SearchEnd::not_yet) return now_;
  now_ = wanted();
  end_ = now_ ? budget_end(*now_) : SearchEnd::goals_reached;
  if (end_ != SearchEnd::not_yet) now_.reset();
  return now_;
}

std::optional<Error> Search::add(const TrialOutcome& outcome) {
  if (!now_) return Error{"the outcome of a trial that was not asked for"};
  if (outcome.input() != *now_)
    return Error{
        fmt::format("the outcome of a trial of {:.9g} packets/s for {:.9g} s, where {:.9g} for {:.9g} s was asked for",
                    outcome.load_pps, outcome.duration_s, now_->load_pps, now_->duration_s)};
  log_.add(outcome);
  now_.reset();
  return std::nullopt;
}

namespace {

/// Classifies a load without some of its trials.
LoadClass class_without(std::span<const TrialOutcome> at_load, const SearchGoal& goal,
                        const std::function<bool(const TrialOutcome&)>& is_out) {
  std::vector<TrialOutcome> sure;
  std::ranges::copy_if(at_load, std::back_inserter(sure), std::not_fn(is_out));
  return classify_load(sure, goal);
}

/// Returns true if an upper bound remains one without the trials whose loss may be the host's.
bool is_devices(std::span<const TrialOutcome> at_load, const SearchGoal& goal) {
  const auto is_doubtful = [&](const TrialOutcome& trial) { return trial.is_doubtful(goal.loss_ratio); };
  return class_without(at_load, goal, is_doubtful) == LoadClass::upper_bound;
}

/// Returns true if a lower bound remains one without the trials that were run again. Repeating only trials that lose
/// frames would select by loss.
bool holds_at_first(std::span<const TrialOutcome> at_load, const SearchGoal& goal) {
  const auto was_repeated = [](const TrialOutcome& trial) { return trial.runs > 1; };
  return class_without(at_load, goal, was_repeated) == LoadClass::lower_bound;
}

bool has_strays(std::span<const TrialOutcome> at_load) {
  return std::ranges::any_of(at_load,
                             [](const TrialOutcome& trial) { return trial.strays && trial.strays->contradictory > 0; });
}

void doubt(GoalResult& result, Irregular why) {
  if (result.irregular == Irregular::no)
    result.irregular = why;
  else
    result.further.push_back(why);
}

}  // namespace

GoalResult Search::result_of(const SearchGoal& goal) const {
  const auto [lower, upper] = log_.relevant_bounds(goal);
  const auto bound_at = [&](std::optional<double> load_pps) -> std::optional<RelevantBound> {
    if (!load_pps) return std::nullopt;
    const auto trials = log_.at(*load_pps);
    return RelevantBound{.load_pps = *load_pps, .trials = {trials.begin(), trials.end()}};
  };
  GoalResult result{.goal = goal, .relevant_lower_bound = bound_at(lower), .relevant_upper_bound = bound_at(upper)};
  const auto so_far = log_.bounds_so_far(goal);
  result.lower_so_far_pps = so_far.lower_pps;
  result.upper_so_far_pps = so_far.upper_pps;
  if (lower) result.conditional_throughput_pps = conditional_throughput_pps(log_.at(*lower), goal);
  if (!upper && lower == plan_.max_load_pps) result.irregular = Irregular::no_upper_bound;
  if (!lower && upper == plan_.min_load_pps) result.irregular = Irregular::no_lower_bound;
  if (lower && upper && *upper - *lower <= goal.width * *upper * (1 + kRounding)) result.irregular = Irregular::no;
  if (upper && result.irregular != Irregular::width_not_reached && !is_devices(log_.at(*upper), goal))
    result.irregular = Irregular::hosts_loss;
  if (lower && !holds_at_first(log_.at(*lower), goal)) doubt(result, Irregular::run_again);
  if ((lower && has_strays(log_.at(*lower))) || (upper && has_strays(log_.at(*upper))))
    doubt(result, Irregular::strays);
  return result;
}

SearchResult Search::result() const {
  const auto trials = log_.trials();
  SearchResult result{.end = end_, .trials = {trials.begin(), trials.end()}, .trial_s = log_.trial_s()};
  for (const SearchGoal& goal : plan_.goals) result.goals.push_back(result_of(goal));
  return result;
}

std::string_view text_of(Irregular irregular) noexcept {
  switch (irregular) {
    case Irregular::no:
      return "regular";
    case Irregular::no_lower_bound:
      return "the goal is not met at the smallest load";
    case Irregular::no_upper_bound:
      return "the goal is met at the largest load";
    case Irregular::width_not_reached:
      return "the search ended before the bounds were close enough";
    case Irregular::hosts_loss:
      return "the host, which was late or had no CPU time, may have caused the losses at the upper bound";
    case Irregular::run_again:
      return "the lower bound depends on trials that were run again, because the host may have caused their losses";
    case Irregular::strays:
      return "frames of another trial or test arrived in trials at a bound";
  }
  return "";
}

std::string reasons_of(const GoalResult& result) {
  std::string text(text_of(result.irregular));
  for (const Irregular reason : result.further) text += fmt::format("; {}", text_of(reason));
  return text;
}

std::string_view text_of(SearchEnd end) noexcept {
  switch (end) {
    case SearchEnd::not_yet:
      return "interrupted";
    case SearchEnd::goals_reached:
      return "all goals decided";
    case SearchEnd::trials_used_up:
      return "no more trials allowed";
    case SearchEnd::time_used_up:
      return "no more time allowed";
  }
  return "";
}

}  // namespace parshall::tester
