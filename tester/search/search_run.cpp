// SPDX-License-Identifier: Apache-2.0
#include "tester/search/search_run.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

namespace parshall::tester {
namespace {

/// Returns true if the host's share decides whether some goal is met.
bool is_doubtful(const TrialOutcome& outcome, std::span<const SearchGoal> goals) {
  return std::ranges::any_of(goals, [&](const SearchGoal& goal) { return outcome.is_doubtful(goal.loss_ratio); });
}

std::size_t most_runs(const TrialInput& input, const RepeatPlan& plan) {
  if (input.load_pps > plan.most_load_pps) return 1;
  return 1 + std::clamp<std::size_t>(static_cast<std::size_t>(plan.most_s / input.duration_s), 2, plan.most);
}

bool has_time(const BeforeTrial& before, const TrialInput& input) {
  return !before.has_time || before.has_time(input.duration_s);
}

/// All runs of one trial.
struct Runs {
  TrialOutcome kept;
  std::vector<TrialOutcome> discarded;
};

Result<Runs> measure(TrialRunner& measurer, const TrialInput& input, std::span<const SearchGoal> goals,
                     const RepeatPlan& plan, const std::function<bool()>& stop, const BeforeTrial& before) {
  auto first = measurer.measure(input);
  if (!first) return first.error();
  Runs runs{.kept = *std::move(first), .discarded = {}};
  while (is_doubtful(runs.kept, goals) && runs.kept.runs < most_runs(input, plan) && !stop() &&
         has_time(before, input)) {
    auto again = measurer.measure(input);
    if (!again) return again.error();
    const bool is_better = !is_doubtful(*again, goals) || again->hosts_share() < runs.kept.hosts_share();
    if (is_better) std::swap(runs.kept, *again);
    runs.kept.runs = 2 + runs.discarded.size();
    runs.discarded.push_back(*std::move(again));
  }
  return runs;
}

struct Trials {
  std::vector<DiscardedRun> discarded = {};
  std::optional<Error> failure = {};
  bool time_is_up = false;
};

Trials run_trials(Search& search, TrialRunner& measurer, const std::function<void(const TrialOutcome&)>& told,
                  const std::function<bool()>& stop, const RepeatPlan& repeats, const BeforeTrial& before) {
  Trials trials;
  for (std::size_t trial = 0; const auto input = search.next(); ++trial) {
    trials.time_is_up = !has_time(before, *input);
    if (trials.time_is_up) break;
    if (before.begins) before.begins(*input);
    const auto runs = measure(measurer, *input, search.goals(), repeats, stop, before);
    if (stop()) break;
    if (!runs) trials.failure = runs.error();
    if (!runs) break;
    trials.failure = search.add(runs->kept);
    if (trials.failure) break;
    told(runs->kept);
    for (const TrialOutcome& outcome : runs->discarded) trials.discarded.push_back({trial, outcome});
  }
  return trials;
}

}  // namespace

SearchRun run_search(Search& search, TrialRunner& measurer, const std::function<void(const TrialOutcome&)>& told,
                     const std::function<bool()>& stop, const RepeatPlan& repeats, const BeforeTrial& before) {
  const auto began = std::chrono::steady_clock::now();
  Trials trials = run_trials(search, measurer, told, stop, repeats, before);
  SearchRun run{.result = search.result(), .failure = std::move(trials.failure)};
  if (trials.time_is_up) run.result.end = SearchEnd::time_used_up;
  run.result.repeated = trials.discarded.size();
  run.result.discarded = std::move(trials.discarded);
  run.result.took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return run;
}

}  // namespace parshall::tester
