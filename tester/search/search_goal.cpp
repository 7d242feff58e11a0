// SPDX-License-Identifier: Apache-2.0
#include "tester/search/search_goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "base/parse.hpp"
#include "base/suggestion.hpp"

namespace parshall::tester {
namespace {

std::optional<Error> problem_of(const SearchGoal& goal) {
  const auto wrong = [&](std::string_view what, double value) {
    return Error{fmt::format("goal {}: {}, not {:.6g}", goal.name, what, value)};
  };
  if (goal.name.empty()) return Error{"a goal has no name"};
  if (!(goal.loss_ratio >= 0 && goal.loss_ratio < 1))
    return wrong("the loss ratio must be at least 0 and less than 1", goal.loss_ratio);
  if (!(goal.exceed_ratio >= 0 && goal.exceed_ratio < 1))
    return wrong("the exceed ratio must be at least 0 and less than 1", goal.exceed_ratio);
  if (!(goal.width >= 1e-6 && goal.width < 1))
    return wrong("the width is relative and must be at least 0.000001 and less than 1", goal.width);
  if (!(goal.initial_trial_s >= 0.001)) return wrong("a trial must take at least 0.001 s", goal.initial_trial_s);
  if (!(goal.final_trial_s >= goal.initial_trial_s))
    return wrong(fmt::format("final trials must not be shorter than initial ones ({:.6g} s)", goal.initial_trial_s),
                 goal.final_trial_s);
  if (!(goal.duration_sum_s >= goal.final_trial_s))
    return wrong(
        fmt::format("the duration sum must be at least that of one final trial ({:.6g} s)", goal.final_trial_s),
        goal.duration_sum_s);
  if (!std::isfinite(goal.duration_sum_s)) return wrong("the duration sum must be finite", goal.duration_sum_s);
  return std::nullopt;
}

/// Parses "0.5%" as 0.005; returns nullopt if it is no share, or has no unit.
///
/// Returns the double nearest to the decimal, like the loss ratio of a trial: 7 of 1000 must not exceed 0.7 %, although
/// 0.7 / 100 is less than 0.007.
std::optional<double> parse_percent(std::string_view text) {
  double percent = 0, share = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, percent);
  if (problem != std::errc() || (std::string_view(rest, end) != "%" && (rest != end || percent != 0)))
    return std::nullopt;
  const std::string number(text.data(), rest), shifted = number + "e-2";
  if (number.find_first_of("eE") != number.npos) return percent / 100;
  std::from_chars(shifted.data(), shifted.data() + shifted.size(), share);
  return share;
}

std::optional<double> parse_seconds(std::string_view text) {
  const auto ns = parse_duration_ns(std::string(text));
  return ns ? std::optional(static_cast<double>(*ns) / 1e9) : std::nullopt;
}

/// A setting NAME=VALUE of a goal, except its name.
struct GoalSetting {
  std::string_view name, example;
  std::optional<double> (*parse)(std::string_view text);
  double SearchGoal::*value;
};
constexpr std::array kGoalSettings{
    GoalSetting{"loss", "0.1%", parse_percent, &SearchGoal::loss_ratio},
    GoalSetting{"exceed", "50%", parse_percent, &SearchGoal::exceed_ratio},
    GoalSetting{"trial", "1s", parse_seconds, &SearchGoal::final_trial_s},
    GoalSetting{"sum", "21s", parse_seconds, &SearchGoal::duration_sum_s},
    GoalSetting{"width", "0.5%", parse_percent, &SearchGoal::width},
    GoalSetting{"initial", "1s", parse_seconds, &SearchGoal::initial_trial_s},
};

}  // namespace

std::optional<Error> problem_of(std::span<const SearchGoal> goals) {
  if (goals.empty()) return Error{"a search needs a goal"};
  for (std::size_t i = 0; i < goals.size(); ++i) {
    if (auto problem = problem_of(goals[i])) return problem;
    for (const SearchGoal& other : goals.first(i)) {
      if (other.name == goals[i].name) return Error{fmt::format("two goals have the name {}", other.name)};
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
  return Error{
      fmt::format("there is no goal {}{}", name, suggestion(name, presets, &SearchGoal::name, "parshall list goals"))};
}

Result<SearchGoal> parse_goal(std::string_view text) {
  SearchGoal goal;
  std::vector<std::string_view> given;
  const auto wrong = [&](std::string_view item, std::string_view what) {
    return Error{fmt::format("goal \"{}\", at \"{}\": {}", text, item, what)};
  };
  for (std::string_view left = text; !left.empty();) {
    const std::string_view item = left.substr(0, left.find(',')), name = item.substr(0, item.find('='));
    left.remove_prefix(std::min(left.size(), item.size() + 1));
    const auto* const setting = std::ranges::find(kGoalSettings, name, &GoalSetting::name);
    if (name.size() == item.size() || (name != "name" && setting == kGoalSettings.end()))
      return wrong(item, "give NAME=VALUE of name, loss, exceed, trial, sum, width and initial");
    if (std::ranges::find(given, name) != given.end()) return wrong(item, "is given twice");
    given.push_back(name);
    const std::string_view value = item.substr(name.size() + 1);
    if (name == "name") {
      goal.name = value;
      continue;
    }
    const auto number = setting->parse(value);
    if (!number) return wrong(item, fmt::format("give {} such as {}={}", name, name, setting->example));
    goal.*setting->value = *number;
  }
  const auto is_given = [&](std::string_view name) { return std::ranges::find(given, name) != given.end(); };
  if (!is_given("sum")) goal.duration_sum_s = goal.final_trial_s;
  if (!is_given("initial")) goal.initial_trial_s = std::min(goal.initial_trial_s, goal.final_trial_s);
  if (const auto problem = problem_of(goal)) return *problem;
  return goal;
}

}  // namespace parshall::tester
