// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tester/search/search_goal.hpp"
#include "tester/search/trial_outcome.hpp"

namespace parshall::tester {

/// Reason why a goal's result is not regular: RFC 9971, section 4.8.4.
enum class Irregular : std::uint8_t {
  no,
  no_lower_bound,     ///< even the least load is an upper bound
  no_upper_bound,     ///< even the greatest load is a lower bound: the device may do more
  width_not_reached,  ///< the search ended first
  hosts_loss,         ///< losses at the upper bound may be the host's: the device may do more
  run_again,          ///< the lower bound rests on repeated trials: the device may do less
  strays,             ///< frames of another trial or test came at a bound, and may have taken room in the device
};
std::string_view text_of(Irregular irregular) noexcept;

enum class SearchEnd : std::uint8_t { not_yet, goals_reached, trials_used_up, time_used_up };
std::string_view text_of(SearchEnd end) noexcept;

struct RelevantBound {
  double load_pps = 0;
  std::vector<TrialOutcome> trials;  ///< all trials at this load, in order
};

/// Bounds of a goal. The relevant upper bound is the least load that is an upper bound; the relevant lower bound is the
/// greatest lower bound below it. So if a device loses less at a higher load, the lower load counts. Source: RFC 9971,
/// section 4.8.
struct GoalResult {
  SearchGoal goal;
  std::optional<RelevantBound> relevant_lower_bound, relevant_upper_bound;
  std::optional<double> conditional_throughput_pps;  ///< throughput at the relevant lower bound
  /// Bounds from the trials so far, even if these are too few or too short for relevant bounds. They are the least load
  /// that lost too much, and the greatest load below it that did not.
  std::optional<double> upper_so_far_pps = {}, lower_so_far_pps = {};
  Irregular irregular = Irregular::width_not_reached;
  std::vector<Irregular> further;  ///< further reasons
};
/// Returns "regular", or all reasons why it is not.
std::string reasons_of(const GoalResult& result);

/// Run of a trial that does not count, because of the host's behaviour in it or in an earlier one.
struct DiscardedRun {
  std::size_t trial = 0;  ///< index of its trial; the first of a search is 0
  TrialOutcome outcome;
};

struct SearchResult {
  SearchEnd end = SearchEnd::not_yet;
  std::vector<TrialOutcome> trials;     ///< in order
  std::size_t repeated = 0;             ///< number of discarded runs
  std::vector<DiscardedRun> discarded;  ///< discarded runs in order
  double trial_s = 0;                   ///< total duration of the trials, without pauses
  double took_s = 0;                    ///< total time, including pauses
  std::vector<GoalResult> goals;        ///< in the order given
};

}  // namespace parshall::tester
