// SPDX-License-Identifier: Apache-2.0
#include "tester/search/search_run.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace parshall::tester {
namespace {

/// Whether the host decides what some goal makes of it.
bool is_doubtful(const TrialOutcome& outcome, std::span<const SearchGoal> goals) {
  return std::ranges::any_of(goals, [&](const SearchGoal& goal) { return outcome.is_doubtful(goal.loss_ratio); });
}

std::size_t most_runs(const TrialInput& input, const RepeatPlan& plan) {
  if (input.load_pps > plan.most_load_pps) return 1;
  return 1 + std::clamp<std::size_t>(static_cast<std::size_t>(plan.most_s / input.duration_s), 2, plan.most);
}

Result<TrialOutcome> measure(Measurer& measurer, const TrialInput& input, std::span<const SearchGoal> goals,
                             const RepeatPlan& plan, const std::function<bool()>& stop) {
  auto outcome = measurer.measure(input);
  std::size_t runs = 1;
  for (; outcome && is_doubtful(*outcome, goals) && runs < most_runs(input, plan) && !stop(); ++runs) {
    auto again = measurer.measure(input);
    if (!again || !is_doubtful(*again, goals) || again->loss_ratio() < outcome->loss_ratio())
      outcome = std::move(again);
  }
  if (outcome) outcome->runs = runs;
  return outcome;
}

std::optional<Error> run_trials(Search& search, Measurer& measurer,
                                const std::function<void(const TrialOutcome&)>& told, const std::function<bool()>& stop,
                                const RepeatPlan& repeats) {
  while (const auto input = search.next()) {
    const auto outcome = measure(measurer, *input, search.goals(), repeats, stop);
    if (stop()) break;
    if (!outcome) return outcome.error();
    told(*outcome);
    if (auto error = search.add(*outcome)) return error;
  }
  return std::nullopt;
}

}  // namespace

SearchRun run_search(Search& search, Measurer& measurer, const std::function<void(const TrialOutcome&)>& told,
                     const std::function<bool()>& stop, const RepeatPlan& repeats) {
  const auto began = std::chrono::steady_clock::now();
  auto failure = run_trials(search, measurer, told, stop, repeats);
  SearchRun run{.result = search.result(), .failure = std::move(failure)};
  for (const TrialOutcome& trial : run.result.trials) run.result.repeated += trial.runs - 1;
  run.result.took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return run;
}

}  // namespace parshall::tester
