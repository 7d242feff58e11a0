// SPDX-License-Identifier: Apache-2.0
#include "tester/search/search_goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace parshall::tester {
namespace {

std::optional<Error> problem_of(const SearchGoal& goal) {
  const auto wrong = [&](std::string_view what, double value) {
    return Error{fmt::format("goal {}: {}, not {}", goal.name, what, value)};
  };
  if (goal.name.empty()) return Error{"a goal has no name"};
  if (!(goal.loss_ratio >= 0 && goal.loss_ratio < 1))
    return wrong("the loss ratio is at least 0 and less than 1", goal.loss_ratio);
  if (!(goal.exceed_ratio >= 0 && goal.exceed_ratio < 1))
    return wrong("the exceed ratio is at least 0 and less than 1", goal.exceed_ratio);
  if (!(goal.width >= 1e-6 && goal.width < 1))
    return wrong("the width is relative, at least 0.000001 and less than 1", goal.width);
  if (!(goal.initial_trial_s >= 0.001)) return wrong("a trial takes at least 0.001 s", goal.initial_trial_s);
  if (!(goal.final_trial_s >= goal.initial_trial_s))
    return wrong(fmt::format("final trials are no shorter than initial ones ({} s)", goal.initial_trial_s),
                 goal.final_trial_s);
  if (!(goal.duration_sum_s >= goal.final_trial_s))
    return wrong(fmt::format("the duration sum is at least that of one final trial ({} s)", goal.final_trial_s),
                 goal.duration_sum_s);
  if (!std::isfinite(goal.duration_sum_s)) return wrong("the duration sum is finite", goal.duration_sum_s);
  return std::nullopt;
}

std::string names_of(std::span<const SearchGoal> goals) {
  std::string names;
  for (const SearchGoal& goal : goals) names += (names.empty() ? "" : ", ") + goal.name;
  return names;
}

}  // namespace

std::optional<Error> problem_of(std::span<const SearchGoal> goals) {
  if (goals.empty()) return Error{"a search needs a goal"};
  for (std::size_t i = 0; i < goals.size(); ++i) {
    if (auto problem = problem_of(goals[i])) return problem;
    for (const SearchGoal& other : goals.first(i)) {
      if (other.name == goals[i].name) return Error{fmt::format("two goals are named {}", other.name)};
    }
  }
  return std::nullopt;
}

std::span<const SearchGoal> preset_goals() {
  static const std::vector<SearchGoal> presets{
      {.name = "rfc2544", .loss_ratio = 0, .exceed_ratio = 0, .final_trial_s = 60, .duration_sum_s = 60},
      {.name = "tst009", .loss_ratio = 0, .exceed_ratio = 0.5, .final_trial_s = 60, .duration_sum_s = 120},
      {.name = "ndr", .loss_ratio = 0, .exceed_ratio = 0.5, .final_trial_s = 1, .duration_sum_s = 21},
      {.name = "pdr", .loss_ratio = 0.005, .exceed_ratio = 0.5, .final_trial_s = 1, .duration_sum_s = 21},
  };
  return presets;
}

Result<SearchGoal> preset_goal(std::string_view name) {
  const auto presets = preset_goals();
  const auto found = std::ranges::find(presets, name, &SearchGoal::name);
  if (found != presets.end()) return *found;
  return Error{fmt::format("no goal is named {}; there are {}", name, names_of(presets))};
}

}  // namespace parshall::tester
