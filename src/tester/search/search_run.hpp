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

/// Runs the trials that the search asks for, until it wants no more.
///
/// `told`: each outcome, as it is there. `stop`: asked after each trial, whose outcome is then left out.
SearchRun run_search(Search& search, Measurer& measurer, const std::function<void(const TrialOutcome&)>& told,
                     const std::function<bool()>& stop);

}  // namespace parshall::tester
