// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace parshall::tester {

/// Relative rounding error of computed loads.
inline constexpr double kRounding = 1e-9;

/// Goal of a search: the highest load at which trials lose no more than this. Source: RFC 9971, section 4.6.
struct SearchGoal {
  std::string name;            ///< name in reports
  double loss_ratio = 0;       ///< limit for a trial; one that loses more is a high-loss trial
  double exceed_ratio = 0;     ///< share of the time that high-loss trials may take
  double final_trial_s = 60;   ///< trials shorter than this are short trials
  double duration_sum_s = 60;  ///< total duration of trials at a load after which it is decided
  double width = 0.005;        ///< largest distance of the bounds, relative to the upper one
  double initial_trial_s = 1;  ///< least duration of a trial for this goal
  friend bool operator==(const SearchGoal&, const SearchGoal&) = default;
};

/// Returns what is wrong with goals that are searched for together.
std::optional<Error> problem_of(std::span<const SearchGoal> goals);

/// Returns a widely used goal by its name: "rfc2544" and "tst009" (RFC 9971, sections 4.10.2 and 4.10.3), "ndr" and
/// "pdr" as in FD.io CSIT.
Result<SearchGoal> preset_goal(std::string_view name);
std::span<const SearchGoal> preset_goals();

/// Parses a custom goal: "name=mine,loss=0.1%,exceed=50%,trial=1s,sum=21s,width=0.5%,initial=1s". Only the name is
/// required. By default, loss and exceed are 0, width 0.5 %, a trial 60 s, the sum one trial, and initial trials at
/// most 1 s.
Result<SearchGoal> parse_goal(std::string_view text);

}  // namespace parshall::tester
