// SPDX-License-Identifier: Apache-2.0
#include "tester/search/trial_log.hpp"

#include "tester/search/load_class.hpp"

namespace parshall::tester {

void TrialLog::add(const TrialOutcome& outcome) {
  trials_.push_back(outcome);
  by_load_[outcome.load_pps].push_back(outcome);
  trial_s_ += outcome.duration_s;
}

std::span<const TrialOutcome> TrialLog::at(double load_pps) const noexcept {
  const auto found = by_load_.find(load_pps);
  return found == by_load_.end() ? std::span<const TrialOutcome>{} : found->second;
}

RelevantBounds TrialLog::relevant_bounds(const SearchGoal& goal) const noexcept {
  RelevantBounds bounds;
  for (const auto& [load_pps, outcomes] : by_load_) {
    const LoadClass load_class = classify_load(outcomes, goal);
    if (load_class == LoadClass::lower_bound) bounds.lower_pps = load_pps;
    if (load_class == LoadClass::upper_bound) {
      bounds.upper_pps = load_pps;
      break;
    }
  }
  return bounds;
}

RelevantBounds TrialLog::bounds_so_far(const SearchGoal& goal) const noexcept {
  RelevantBounds bounds;
  for (const auto& [load_pps, outcomes] : by_load_) {
    double all_s = 0, lossy_s = 0;
    for (const TrialOutcome& outcome : outcomes) {
      all_s += outcome.duration_s;
      if (outcome.loss_ratio() > goal.loss_ratio) lossy_s += outcome.duration_s;
    }
    if (lossy_s > goal.exceed_ratio * all_s) {
      bounds.upper_pps = load_pps;
      break;
    }
    bounds.lower_pps = load_pps;
  }
  return bounds;
}

}  // namespace parshall::tester
