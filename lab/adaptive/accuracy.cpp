// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

namespace parshall::lab {
namespace {

constexpr std::size_t kFewestJudged = 20;  ///< events of a window, so that its recall can be compared with the estimate
constexpr std::size_t kVaried = 10;        ///< windows for a variation; as many as estimates use

/// Counts of events: existing, found, and found among the existing. Shares of zero events count as 1.
struct Counted {
  std::size_t there = 0, found = 0, right = 0;
  std::uint64_t all_each = 0, right_each = 0;  ///< each event of a flow

  double recall() const noexcept { return share(there); }
  double precision() const noexcept { return share(found); }

 private:
  double share(std::size_t of) const noexcept {
    return of == 0 ? 1 : static_cast<double>(right) / static_cast<double>(of);
  }
};

/// Computes the deviation of events per flow over successive windows, relative to their mean.
class Variation {
 public:
  void add(std::uint64_t window, double events_a_flow) {
    if (window != last_window_ + 1) last_.clear();
    last_window_ = window;
    last_.push_back(events_a_flow);
    if (last_.size() > kVaried) last_.erase(last_.begin());
    if (last_.size() < kVaried) return;
    const double mean = std::accumulate(last_.begin(), last_.end(), 0.0) / kVaried;
    if (mean == 0) return;
    double squares = 0;
    for (const double value : last_) squares += (value - mean) * (value - mean);
    sum_ += std::sqrt(squares / (kVaried - 1)) / mean;
    ++count_;
  }
  std::optional<double> mean() const noexcept {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(count_));
  }

 private:
  std::vector<double> last_;
  std::uint64_t last_window_ = 0;
  double sum_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

TaskAccuracy judge(const std::string& task, const Outcome& outcome, const Outcome& truth, const Stretches& judged,
                   double threshold) {
  TaskAccuracy accuracy{.name = task};
  std::map<std::uint64_t, Counted> windows;
  for (const Stretch& stretch : judged)
    for (std::uint64_t window = stretch.first; window <= stretch.last; ++window) windows[window];
  const auto of = [&task](const Outcome& run) {
    const auto events = run.found.find(task);
    return events == run.found.end() ? std::span<const Found>() : std::span<const Found>(events->second);
  };
  for (const Found& event : of(truth))
    if (const auto window = windows.find(event.window); window != windows.end()) {
      ++window->second.there;
      window->second.all_each += event.count;
      const auto found = std::ranges::lower_bound(of(outcome), event);
      if (found == of(outcome).end() || *found != event) continue;
      ++window->second.right;
      window->second.right_each += std::min(found->count, event.count);
    }
  for (const Found& event : of(outcome))
    if (const auto window = windows.find(event.window); window != windows.end()) ++window->second.found;
  Counted run;
  for (const auto& [number, window] : windows) {
    run.there += window.there;
    run.right += window.right;
    run.found += window.found;
  }
  accuracy.recall = run.recall();
  accuracy.precision = run.precision();
  if (run.there + run.found != 0)
    accuracy.f1 = 2 * static_cast<double>(run.right) / static_cast<double>(run.there + run.found);
  double errors = 0;
  std::vector<double> missed;  // shares of the flows
  Variation variation;
  for (const auto& [window, counts] : windows) {
    const double recall = counts.recall();
    ++accuracy.windows;
    if (const auto flows = outcome.flows.find({task, window}); flows != outcome.flows.end()) {
      missed.push_back(flows->second.missed_share());
      if (const std::uint64_t seen = flows->second.seen; seen != 0)
        variation.add(window, static_cast<double>(counts.found) / static_cast<double>(seen));
    }
    accuracy.recalled += recall >= threshold;
    accuracy.satisfied_by_count +=
        static_cast<double>(counts.right_each) >= threshold * static_cast<double>(counts.all_each);
    accuracy.satisfied += recall >= threshold && counts.precision() >= threshold;
    const auto said = outcome.said.find({task, window});
    const std::optional<Said> statement = said == outcome.said.end() ? Said{1, 1} : said->second;
    if (!statement) continue;
    ++accuracy.told;
    accuracy.held += recall >= statement->at_least - 1e-9;
    if (counts.there < kFewestJudged || counts.right == 0) continue;
    const double error = std::abs(statement->recall - recall) / recall;
    errors += error, ++accuracy.judged;
    accuracy.worst_error = std::max(accuracy.worst_error, error);
  }
  if (accuracy.judged != 0) accuracy.mean_error = errors / static_cast<double>(accuracy.judged);
  if (!missed.empty())
    accuracy.missing_share = std::accumulate(missed.begin(), missed.end(), 0.0) / static_cast<double>(missed.size());
  accuracy.variation = variation.mean();
  return accuracy;
}

}  // namespace parshall::lab
