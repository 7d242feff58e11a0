// SPDX-License-Identifier: Apache-2.0
#include "tester/search/load_class.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace parshall::tester {
namespace {

double whole_ns(double seconds) noexcept { return std::round(seconds * 1e9); }

/// Sums of durations, named as in the RFC.
struct DurationSums {
  double full_length_low_loss = 0, full_length_high_loss = 0, short_low_loss = 0, short_high_loss = 0;

  DurationSums(std::span<const TrialOutcome> trials, const SearchGoal& goal) noexcept {
    for (const TrialOutcome& trial : trials) {
      const bool full_length = trial.duration_s >= goal.final_trial_s, high_loss = trial.loss_ratio() > goal.loss_ratio;
      double& sum = full_length ? (high_loss ? full_length_high_loss : full_length_low_loss)
                                : (high_loss ? short_high_loss : short_low_loss);
      sum += whole_ns(trial.duration_s);
    }
  }
};

}  // namespace

LoadClass classify_load(std::span<const TrialOutcome> at_load, const SearchGoal& goal) noexcept {
  const DurationSums sums(at_load, goal);
  const double exceed_coefficient = goal.exceed_ratio / (1 - goal.exceed_ratio);
  const double balancing = std::round(sums.short_low_loss * exceed_coefficient);
  const double positive_excess = std::max(0.0, sums.short_high_loss - balancing);
  const double effective_high_loss = sums.full_length_high_loss + positive_excess;
  const double effective_full_length = sums.full_length_low_loss + effective_high_loss;
  const double effective_whole = std::max(effective_full_length, whole_ns(goal.duration_sum_s));
  const double quantile = std::round(effective_whole * goal.exceed_ratio);
  const double pessimistic_high_loss = effective_whole - sums.full_length_low_loss;
  if (pessimistic_high_loss <= quantile) return LoadClass::lower_bound;
  return effective_high_loss <= quantile ? LoadClass::undecided : LoadClass::upper_bound;
}

std::optional<double> conditional_throughput_pps(std::span<const TrialOutcome> at_load, const SearchGoal& goal) {
  std::vector<std::pair<double, double>> full_length;  // loss ratio, duration
  double full_length_sum = 0;
  for (const TrialOutcome& trial : at_load) {
    if (trial.duration_s < goal.final_trial_s) continue;
    full_length.emplace_back(trial.loss_ratio(), whole_ns(trial.duration_s));
    full_length_sum += whole_ns(trial.duration_s);
  }
  if (full_length.empty()) return std::nullopt;
  std::ranges::sort(full_length);
  const double whole = std::max(whole_ns(goal.duration_sum_s), full_length_sum);
  double remaining = std::round(whole * (1 - goal.exceed_ratio));
  double quantile_loss_ratio = 1;
  for (const auto& [loss_ratio, duration] : full_length) {
    quantile_loss_ratio = loss_ratio;
    remaining -= duration;
    if (remaining <= 0) break;
  }
  if (remaining > 0) quantile_loss_ratio = 1;
  return at_load.front().load_pps * (1 - quantile_loss_ratio);
}

}  // namespace parshall::tester
