// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>

#include "base/result.hpp"
#include "tester/search/search.hpp"
#include "tester/search/trial_runner.hpp"

namespace parshall::tester {

/// Result of a search at its end, which may be a failure.
struct SearchRun {
  SearchResult result;
  std::optional<Error> failure;
};

/// Rules for repeating a trial whose excess loss may be the host's.
struct RepeatPlan {
  double most_load_pps = 0;  ///< no repeats above it, where senders are always late; 0: never repeats
  std::size_t most = 9;      ///< repetitions of one trial
  double most_s = 10;        ///< total time of repetitions, but at least two
};

/// Callbacks before each trial; empty ones are not called.
struct BeforeTrial {
  std::function<bool(double trial_s)> has_time;  ///< gets the trial's duration; false ends the search
  std::function<void(const TrialInput&)> begins;
};

/// Runs the trials that the search asks for, until it wants no more.
///
/// Of several runs of a trial, one without the host's influence counts, or else the one with the host's smallest share.
/// The run with the least loss would be a wrong choice, since it flatters devices that lose at random.
///
/// `told`: called with each outcome. `stop`: called after each trial; if it returns true, the outcome is discarded.
SearchRun run_search(Search& search, TrialRunner& measurer, const std::function<void(const TrialOutcome&)>& told,
                     const std::function<bool()>& stop, const RepeatPlan& repeats = {}, const BeforeTrial& before = {});

}  // namespace parshall::tester
