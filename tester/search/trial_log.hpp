// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tester/search/search_goal.hpp"
#include "tester/search/trial_outcome.hpp"

namespace parshall::tester {

/// Relevant bounds, as RFC 9971, sections 4.8.1 and 4.8.2 define them.
struct RelevantBounds {
  std::optional<double> lower_pps, upper_pps;
};

/// All trials of a search. Each serves every goal, whichever it was run for.
class TrialLog {
 public:
  void add(const TrialOutcome& outcome);

  std::span<const TrialOutcome> trials() const noexcept { return trials_; }
  std::span<const TrialOutcome> at(double load_pps) const noexcept;
  double trial_s() const noexcept { return trial_s_; }
  RelevantBounds relevant_bounds(const SearchGoal& goal) const noexcept;
  /// Returns the same from the trials at each load so far, however few and short they are.
  RelevantBounds bounds_so_far(const SearchGoal& goal) const noexcept;

 private:
  std::vector<TrialOutcome> trials_;
  std::map<double, std::vector<TrialOutcome>> by_load_;
  double trial_s_ = 0;
};

}  // namespace parshall::tester
