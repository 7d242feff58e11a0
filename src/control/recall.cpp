// SPDX-License-Identifier: Apache-2.0
#include "control/recall.hpp"

#include <algorithm>
#include <cmath>

namespace parshall {
namespace {

constexpr double kHighVariation = 1, kLambda = 3;

/// What a variable of Student's t is below in 95 of 100 cases.
double one_sided_95(double degrees) noexcept {
  constexpr std::array<double, 10> kFew{6.314, 6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833};
  // Of many it is 1.645 and a little more, to three digits from ten on.
  return degrees < kFew.size() ? kFew[static_cast<std::size_t>(degrees)]
                               : 1.645 + 1.53 / degrees + 1.4 / (degrees * degrees);
}

double recall_of(double found, double missed) noexcept { return missed > 0 ? found / (found + missed) : 1; }

}  // namespace

void RecallEstimator::add_window(std::uint64_t flows, double events, double squares) noexcept {
  events_ = events;
  blind_ = flows == 0 ? blind_ + 1 : 0;
  if (flows == 0) return;
  const auto n = static_cast<double>(flows);
  const double mean = events / n;
  const double sampled = flows > 1 ? std::max(0.0, (squares - events * mean) / (n - 1)) : 0;
  // Flows that were all alike are no proof that all are: one more, and one of another kind (Laplace).
  const double other = 1 / (n + 2);
  windows_[added_++ % kWindows] = {n, mean, std::max(sampled, other * (1 - other))};
}

std::optional<RecallEstimator::Moments> RecallEstimator::moments() const noexcept {
  const std::size_t count = std::min(added_, kWindows);
  if (count == 0) return std::nullopt;
  const auto n = static_cast<double>(count);
  double weights = 0, weighted = 0, plain_mean = 0, flows = 0, variance = 0, sampling = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Window& window = windows_[i];
    const double weight = std::sqrt(window.flows / window.variance);
    weights += weight;
    weighted += weight * window.mean;
    plain_mean += window.mean / n;
    flows += window.flows;
    variance += window.flows * window.variance;
    sampling += window.variance / window.flows / n;
  }
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) squares += (windows_[i].mean - plain_mean) * (windows_[i].mean - plain_mean);
  const double between = count > 1 ? squares / (n - 1) : 0;
  return Moments{.windows = n,
                 .flows = flows,
                 .mean = weighted / weights,
                 .between_sd = std::sqrt(between),
                 .rate_sd = std::sqrt(std::max(0.0, between - sampling)),
                 .within_variance = variance / flows};
}

std::optional<double> RecallEstimator::missed_events_per_flow() const noexcept {
  const auto known = moments();
  if (!known) return std::nullopt;
  const bool varies = known->rate_sd > kHighVariation * known->mean;
  return known->mean + (varies ? kLambda * known->rate_sd : 0);
}

std::optional<Recall> RecallEstimator::recall(std::uint64_t missed_flows) const noexcept {
  if (missed_flows == 0) return Recall{};
  const auto known = moments();
  if (!known || blind_ >= kWindows) return std::nullopt;  // what was seen that long ago says nothing
  const auto missed = static_cast<double>(missed_flows);
  const double expected = missed * *missed_events_per_flow();
  // Flows are left out in a window whose own rate may be above that of the ones before.
  const Window& last = windows_[(added_ - 1) % kWindows];
  const double rate = std::max(known->mean, last.mean), variance = std::max(known->within_variance, last.variance);
  // The mean of those that were seen differs from the rate by what windows differ by, or where all were alike by what
  // flows do; the sum of those that were not seen by what they do once more.
  const double t_between = one_sided_95(known->windows - 1), t_within = one_sided_95(known->flows - known->windows);
  const double between = t_between * known->between_sd * std::sqrt(1 + 1 / known->windows);
  const double sampled = t_within * std::sqrt(variance / last.flows);
  const double chance = t_within * std::sqrt(missed * variance);
  // Counts of few events lean to the right, and are whole: as of Poisson's law, for events as large as they come here.
  const double event = rate > 0 ? variance / rate : 1;
  const double lean = event * ((t_within * t_within - 1) / 6 + 0.5);
  const double most = missed * rate + std::hypot(chance, missed * std::max(between, sampled)) + lean;
  return Recall{recall_of(events_, expected), recall_of(events_, std::max(expected, most))};
}

}  // namespace parshall
