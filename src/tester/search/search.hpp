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

/// After which a search ends with what is known by then. No trial begins that would go beyond it.
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

/// Says which trial to run next, given the outcomes up to now, and nothing but them: it knows no device, clock or
/// chance. In the terms of RFC 9971 it is the controller, and who calls it is manager and measurer.
class Search {
 public:
  virtual ~Search() = default;

  /// The trial to run now, the same one until its outcome is added; nothing where the search is over.
  std::optional<TrialInput> next();
  /// The outcome of that trial. It is refused where it is of another load or duration, or of none.
  std::optional<Error> add(const TrialOutcome& outcome);
  /// What is known by now, at any time.
  SearchResult result() const;

  std::span<const SearchGoal> goals() const noexcept { return plan_.goals; }

 protected:
  explicit Search(SearchPlan plan) : plan_(std::move(plan)) {}
  const SearchPlan& plan() const noexcept { return plan_; }
  const TrialLog& log() const noexcept { return log_; }

 private:
  /// The trial that the goals need most; nothing where they are reached. Asked once for each trial.
  virtual std::optional<TrialInput> wanted() = 0;

  SearchEnd budget_end(const TrialInput& trial) const noexcept;
  GoalResult result_of(const SearchGoal& goal) const;

  SearchPlan plan_;
  TrialLog log_;
  std::optional<TrialInput> now_;
  SearchEnd end_ = SearchEnd::not_yet;
};

/// A way to search.
struct SearchMethod {
  std::string_view name, summary;
  Result<std::unique_ptr<Search>> (*make)(SearchPlan plan);
};
std::span<const SearchMethod> search_methods() noexcept;

}  // namespace parshall::tester
