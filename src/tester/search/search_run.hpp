// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>

#include "base/result.hpp"
#include "tester/search/measurer.hpp"
#include "tester/search/search.hpp"

namespace parshall::tester {

/// What is known of a search where it ended, be it by a failure.
struct SearchRun {
  SearchResult result;
  std::optional<Error> failure;
};

/// When a trial is run again: where it may be the host that lost too much for some goal.
struct RepeatPlan {
  double most_load_pps = 0;  ///< not beyond it, where the sender is late in any case; 0: it is never run again
  std::size_t most = 9;      ///< of one trial
  double most_s = 10;        ///< for all of them; but two in any case
};

/// Who has a say before each trial. What is empty is not asked.
struct BeforeTrial {
  std::function<bool(double trial_s)> has_time;  ///< for a trial of so long: false ends the search
  std::function<void(const TrialInput&)> begins;
};

/// Runs the trials that the search asks for, until it wants no more.
///
/// Of a trial that was run again that run counts in which nothing was the host's doing, else the one in which the host
/// had the smallest share: never the one that lost least, which would make devices better that lose by chance.
///
/// `told`: each outcome, as it is there. `stop`: asked after each trial, whose outcome is then left out.
SearchRun run_search(Search& search, Measurer& measurer, const std::function<void(const TrialOutcome&)>& told,
                     const std::function<bool()>& stop, const RepeatPlan& repeats = {}, const BeforeTrial& before = {});

}  // namespace parshall::tester
