// SPDX-License-Identifier: Apache-2.0
#include "tester/search/repeat_statistics.hpp"

#include <algorithm>

#include "base/mean_interval.hpp"

namespace parshall::tester {
namespace {

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

std::optional<Spread> spread_of(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const MeanInterval interval = mean_interval(values);
  Spread spread{
      .median = median_of({values.begin(), values.end()}), .mean = interval.mean, .half_width = interval.half_width};
  if (interval.deviation && interval.mean != 0) spread.variation = *interval.deviation / interval.mean;
  return spread;
}

namespace {

/// Widens the interval to the distance between the bounds.
std::optional<Spread> between(std::optional<Spread> spread, double apart_pps) {
  if (spread && spread->half_width) spread->half_width = std::max(*spread->half_width, apart_pps);
  return spread;
}

}  // namespace

std::vector<RepeatStatistics> repeat_statistics(std::span<const SearchResult> searches) {
  std::vector<RepeatStatistics> all;
  if (searches.empty()) return all;
  for (std::size_t goal = 0; goal < searches.front().goals.size(); ++goal) {
    std::vector<double> throughputs, lower_bounds, upper_bounds;
    double apart_pps = 0;
    for (const SearchResult& search : searches) {
      const GoalResult& result = search.goals[goal];
      if (result.irregular != Irregular::no) continue;
      throughputs.push_back(*result.conditional_throughput_pps);
      lower_bounds.push_back(result.relevant_lower_bound->load_pps);
      upper_bounds.push_back(result.relevant_upper_bound->load_pps);
      apart_pps += upper_bounds.back() - lower_bounds.back();
    }
    if (!throughputs.empty()) apart_pps /= static_cast<double>(throughputs.size());
    all.push_back({.goal = searches.front().goals[goal].goal.name,
                   .regular = throughputs.size(),
                   .irregular = searches.size() - throughputs.size(),
                   .conditional_throughput_pps = between(spread_of(throughputs), apart_pps),
                   .relevant_lower_bound_pps = between(spread_of(lower_bounds), apart_pps),
                   .relevant_upper_bound_pps = between(spread_of(upper_bounds), apart_pps)});
  }
  return all;
}

}  // namespace parshall::tester
