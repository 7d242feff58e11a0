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

/// What a goal's result lacks to be regular: RFC 9971, section 4.8.4.
enum class Irregular : std::uint8_t {
  no,
  no_lower_bound,     ///< the least load is an upper bound already
  no_upper_bound,     ///< the greatest load is a lower bound still: the device may do more
  width_not_reached,  ///< the search ended first
  hosts_loss,         ///< what the upper bound lost may be the host's doing: the device may do more
  run_again,          ///< the lower bound rests on trials that were run again: the device may do less
  strays,             ///< frames of another trial or test came at a bound: they may have taken the device's room
};
std::string_view text_of(Irregular irregular) noexcept;

enum class SearchEnd : std::uint8_t { not_yet, goals_reached, trials_used_up, time_used_up };
std::string_view text_of(SearchEnd end) noexcept;

struct RelevantBound {
  double load_pps = 0;
  std::vector<TrialOutcome> trials;  ///< all at this load, as they were run
};

/// The relevant upper bound is the least load that is an upper bound, the relevant lower bound the greatest lower bound
/// below it: where a device loses less at a higher load, the lower load counts. Source: RFC 9971, section 4.8.
struct GoalResult {
  SearchGoal goal;
  std::optional<RelevantBound> relevant_lower_bound, relevant_upper_bound;
  std::optional<double> conditional_throughput_pps;  ///< at the relevant lower bound
  /// By the trials so far, though they may be too few or too short for relevant bounds: the least load that lost too
  /// much, and the greatest below it that did not.
  std::optional<double> upper_so_far_pps = {}, lower_so_far_pps = {};
  Irregular irregular = Irregular::width_not_reached;
  std::vector<Irregular> further;  ///< what it lacks beside that
};
/// "regular", or all that it lacks.
std::string reasons_of(const GoalResult& result);

/// A run of a trial that does not count, for what the host did in it or in one before.
struct DiscardedRun {
  std::size_t trial = 0;  ///< in whose place it was run: the first of a search is 0
  TrialOutcome outcome;
};

struct SearchResult {
  SearchEnd end = SearchEnd::not_yet;
  std::vector<TrialOutcome> trials;     ///< in order
  std::size_t repeated = 0;             ///< others that were run again, for what the host did
  std::vector<DiscardedRun> discarded;  ///< those, in order
  double trial_s = 0;                   ///< they took together, without what lay between them
  double took_s = 0;                    ///< with that
  std::vector<GoalResult> goals;        ///< in the order in which they were given
};

}  // namespace parshall::tester
