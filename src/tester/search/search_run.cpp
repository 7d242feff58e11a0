// SPDX-License-Identifier: Apache-2.0
#include "tester/search/search_run.hpp"

#include <chrono>

namespace parshall::tester {
namespace {

std::optional<Error> run_trials(Search& search, Measurer& measurer,
                                const std::function<void(const TrialOutcome&)>& told,
                                const std::function<bool()>& stop) {
  while (const auto input = search.next()) {
    const auto outcome = measurer.measure(*input);
    if (stop()) break;
    if (!outcome) return outcome.error();
    told(*outcome);
    if (auto error = search.add(*outcome)) return error;
  }
  return std::nullopt;
}

}  // namespace

SearchRun run_search(Search& search, Measurer& measurer, const std::function<void(const TrialOutcome&)>& told,
                     const std::function<bool()>& stop) {
  const auto began = std::chrono::steady_clock::now();
  auto failure = run_trials(search, measurer, told, stop);
  SearchRun run{.result = search.result(), .failure = std::move(failure)};
  run.result.took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return run;
}

}  // namespace parshall::tester
