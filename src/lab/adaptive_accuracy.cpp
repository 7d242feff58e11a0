// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive_accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace parshall::lab {
namespace {

constexpr std::size_t kFewestJudged = 20;  ///< events of a window, for a recall to be compared with its estimate

}  // namespace

TaskAccuracy judge(const std::string& task, const Outcome& outcome, const Outcome& truth, const Stretches& judged,
                   double threshold) {
  TaskAccuracy accuracy{.name = task};
  std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> windows;  // events that there are, and those found
  for (const Stretch& stretch : judged)
    for (std::uint64_t window = stretch.first; window <= stretch.last; ++window) windows[window];
  std::size_t all = 0, right = 0, found = 0;
  const auto in_range = [&](const Found& event) { return windows.contains(event.window); };
  const auto of = [&task](const Outcome& run) {
    const auto events = run.found.find(task);
    return events == run.found.end() ? std::span<const Found>() : std::span<const Found>(events->second);
  };
  for (const Found& event : of(truth)) {
    if (!in_range(event)) continue;
    const bool is_found = std::ranges::binary_search(of(outcome), event);
    auto& [there, here] = windows[event.window];
    ++there, ++all;
    here += is_found, right += is_found;
  }
  found = static_cast<std::size_t>(std::ranges::count_if(of(outcome), in_range));
  if (all != 0) accuracy.recall = static_cast<double>(right) / static_cast<double>(all);
  if (found != 0) accuracy.precision = static_cast<double>(right) / static_cast<double>(found);
  double errors = 0;
  for (const auto& [window, counts] : windows) {
    const auto& [there, here] = counts;
    const double recall = there == 0 ? 1 : static_cast<double>(here) / static_cast<double>(there);
    ++accuracy.windows;
    accuracy.satisfied += recall >= threshold;
    const auto said = outcome.said.find({task, window});
    const std::optional<Said> statement = said == outcome.said.end() ? Said{1, 1} : said->second;
    if (!statement) continue;
    ++accuracy.told;
    accuracy.held += recall >= statement->at_least - 1e-9;
    if (there < kFewestJudged || here == 0) continue;
    const double error = std::abs(statement->recall - recall) / recall;
    errors += error, ++accuracy.judged;
    accuracy.worst_error = std::max(accuracy.worst_error, error);
  }
  if (accuracy.judged != 0) accuracy.mean_error = errors / static_cast<double>(accuracy.judged);
  return accuracy;
}

}  // namespace parshall::lab
