// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace parshall::tester {

/// Relative, of loads that were reckoned.
inline constexpr double kRounding = 1e-9;

/// What is searched for: the highest load at which trials lose no more than this. Source: RFC 9971, section 4.6.
struct SearchGoal {
  std::string name;            ///< in reports
  double loss_ratio = 0;       ///< of a trial: one that loses more is a high-loss trial
  double exceed_ratio = 0;     ///< which part of the time high-loss trials may take
  double final_trial_s = 60;   ///< a shorter trial is a short one
  double duration_sum_s = 60;  ///< of trials at one load, after which it is decided
  double width = 0.005;        ///< between the bounds, at most, relative to the upper one
  double initial_trial_s = 1;  ///< no trial for this goal is shorter
  friend bool operator==(const SearchGoal&, const SearchGoal&) = default;
};

/// What is wrong with goals that are searched for together.
std::optional<Error> problem_of(std::span<const SearchGoal> goals);

/// A goal that others use too, by its name: "rfc2544" and "tst009" (RFC 9971, sections 4.10.2 and 4.10.3), "ndr" and
/// "pdr" as FD.io CSIT searches for them.
Result<SearchGoal> preset_goal(std::string_view name);
std::span<const SearchGoal> preset_goals();

/// A goal of one's own: "name=mine,loss=0.1%,exceed=50%,trial=1s,sum=21s,width=0.5%,initial=1s". Only the name has to
/// be there; else loss and exceed are 0, width 0.5 %, a trial 60 s, the sum one trial, and initial trials 1 s or
/// shorter.
Result<SearchGoal> parse_goal(std::string_view text);

}  // namespace parshall::tester
