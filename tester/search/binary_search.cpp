// SPDX-License-Identifier: Apache-2.0
#include "tester/search/binary_search.hpp"

#include "tester/search/load_class.hpp"

namespace parshall::tester {

Result<std::unique_ptr<Search>> BinarySearch::make(SearchPlan plan) {
  if (auto problem = problem_of(plan)) return *problem;
  if (plan.goals.size() != 1) return Error{"a binary search has one goal"};
  return std::unique_ptr<Search>(new BinarySearch(std::move(plan)));
}

std::optional<TrialInput> BinarySearch::wanted() {
  const SearchGoal& goal = plan().goals.front();
  const auto trial_at = [&](double load_pps) {
    return TrialInput{.load_pps = load_pps, .duration_s = goal.final_trial_s};
  };
  const auto class_at = [&](double load_pps) { return classify_load(log().at(load_pps), goal); };

  double upper = plan().max_load_pps, lower = plan().min_load_pps;
  if (class_at(upper) == LoadClass::lower_bound) return std::nullopt;
  if (class_at(upper) == LoadClass::undecided) return trial_at(upper);
  if (class_at(lower) == LoadClass::upper_bound) return std::nullopt;
  if (class_at(lower) == LoadClass::undecided) return trial_at(lower);
  while (upper - lower > goal.width * upper) {
    const double middle = lower + (upper - lower) / 2;
    switch (class_at(middle)) {
      case LoadClass::undecided:
        return trial_at(middle);
      case LoadClass::lower_bound:
        lower = middle;
        break;
      case LoadClass::upper_bound:
        upper = middle;
        break;
    }
  }
  return std::nullopt;
}

}  // namespace parshall::tester
