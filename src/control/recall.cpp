// SPDX-License-Identifier: Apache-2.0
#include "control/recall.hpp"

#include <algorithm>
#include <cmath>

namespace parshall {
namespace {

constexpr double kHighVariation = 1, kLambda = 3;
constexpr double kOneSided95 = 1.833;  ///< Student's t of nine degrees: kWindows - 1

double recall_of(double found, double missed) noexcept { return missed > 0 ? found / (found + missed) : 1; }

}  // namespace

void RecallEstimator::add_window(std::uint64_t flows, double events, double squares) noexcept {
  events_ = events;
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
  double weights = 0, weighted = 0, variance = 0, plain_mean = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Window& window = windows_[i];
    const double weight = std::sqrt(window.flows / window.variance);
    weights += weight;
    weighted += weight * window.mean;
    variance += weight * window.variance;
    plain_mean += window.mean / static_cast<double>(count);
  }
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) squares += (windows_[i].mean - plain_mean) * (windows_[i].mean - plain_mean);
  return Moments{weighted / weights, count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : 0,
                 variance / weights};
}

std::optional<double> RecallEstimator::missed_events_per_flow() const noexcept {
  const auto known = moments();
  if (!known) return std::nullopt;
  const bool varies = known->between_sd > kHighVariation * known->mean;
  return known->mean + (varies ? kLambda * known->between_sd : 0);
}

std::optional<Recall> RecallEstimator::recall(std::uint64_t missed_flows) const noexcept {
  if (missed_flows == 0) return Recall{};
  const auto known = moments();
  if (!known) return std::nullopt;
  const auto missed = static_cast<double>(missed_flows);
  const double expected = missed * *missed_events_per_flow();
  const double sd =
      std::sqrt(missed * known->within_variance + missed * missed * known->between_sd * known->between_sd);
  // Counts of few events lean to the right, and are whole: as of Poisson's law, for events as large as they come here.
  const double event = known->mean > 0 ? known->within_variance / known->mean : 1;
  const double lean = event * ((kOneSided95 * kOneSided95 - 1) / 6 + 0.5);
  const double most = std::max(expected, missed * known->mean + kOneSided95 * sd + lean);
  return Recall{recall_of(events_, expected), recall_of(events_, most)};
}

}  // namespace parshall
