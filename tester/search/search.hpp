// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "tester/search/search_goal.hpp"
#include "tester/search/search_result.hpp"
#include "tester/search/trial_log.hpp"
#include "tester/search/trial_outcome.hpp"

namespace parshall::tester {

/// Budget of a search, which ends with the results so far when it is used up. No trial begins that would exceed it.
struct SearchBudget {
  std::optional<std::size_t> trials;
  std::optional<double> trial_s;
};

struct SearchPlan {
  double min_load_pps = 0;
  double max_load_pps = 0;
  std::vector<SearchGoal> goals;
  SearchBudget budget;
};
std::optional<Error> problem_of(const SearchPlan& plan);

/// Decides which trial to run next from the outcomes so far, and nothing else: it uses no device, clock or random
/// numbers. In the terms of RFC 9971 it is the controller; its caller is manager and measurer.
class Search {
 public:
  virtual ~Search() = default;

  /// Returns the trial to run now, the same one until its outcome is added; nullopt if the search has ended.
  std::optional<TrialInput> next();
  /// Adds the outcome of that trial. Error: it has another load or duration, or no trial was due.
  std::optional<Error> add(const TrialOutcome& outcome);
  /// Returns the results so far, at any time.
  SearchResult result() const;

  std::span<const SearchGoal> goals() const noexcept { return plan_.goals; }

 protected:
  explicit Search(SearchPlan plan) : plan_(std::move(plan)) {}
  const SearchPlan& plan() const noexcept { return plan_; }
  const TrialLog& log() const noexcept { return log_; }

 private:
  /// Returns the trial that the goals need most; nullopt if they are reached. Called once for each trial.
  virtual std::optional<TrialInput> wanted() = 0;

  SearchEnd budget_end(const TrialInput& trial) const noexcept;
  GoalResult result_of(const SearchGoal& goal) const;

  SearchPlan plan_;
  TrialLog log_;
  std::optional<TrialInput> now_;
  SearchEnd end_ = SearchEnd::not_yet;
};

/// A search method.
struct SearchMethod {
  std::string_view name, summary;
  Result<std::unique_ptr<Search>> (*make)(SearchPlan plan);
};
std::span<const SearchMethod> search_methods() noexcept;

}  // namespace parshall::tester
