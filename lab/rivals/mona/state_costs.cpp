// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/mona/state_costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace parshall::lab {
namespace {

constexpr double kFurthest = 20;  ///< largest factor between given and learnt costs
constexpr double kLongest = 2;    ///< longest busy time, in windows: the last batch began within the window
constexpr double kSurprise = 4;   ///< in standard deviations
constexpr double kResidualLearning = 0.1;
constexpr double kLikeness = 0.9;  ///< correlation of states with equal given costs
constexpr double kStep = 1e-6;     ///< least difference, relative to the cost of the heavier state

bool is_within(double value, double least, double most) noexcept { return value >= least && value <= most; }

}  // namespace

StateCosts::StateCosts(std::span<const double> costs_ns, Options options) : options_(options) {
  double largest_ns = 0;
  for (const double cost : costs_ns) {
    prior_ns_.push_back(is_within(cost, 0, 1e9) ? cost : 0);
    largest_ns = std::max(largest_ns, prior_ns_.back());
  }
  // Costs given as zero, or close to it, must be learnt too.
  for (const double cost : prior_ns_) {
    const double sd_ns = options.prior_sd * std::max({cost, 0.1 * largest_ns, 1e-3});
    prior_variance_.push_back(sd_ns * sd_ns);
    least_ns_.push_back(cost / kFurthest);
    most_ns_.push_back(kFurthest * std::max(cost, sd_ns));
  }
  costs_ns_ = prior_ns_;
  covariance_.resize(size() * size());
  for (std::size_t i = 0; i < size(); ++i)
    for (std::size_t j = 0; j < size(); ++j)
      covariance(i, j) = (i == j ? 1 : kLikeness) * std::min(prior_variance_[i], prior_variance_[j]);
  own_variance_.resize(size());
  common_.resize(size());
  scale_.resize(size());
  gain_.resize(size());
}

bool StateCosts::is_possible(const Window& window) const noexcept {
  if (!is_within(window.window_ns, 1, 1e12) || window.shares.size() != size()) return false;
  if (!is_within(window.busy_ns, kLeastBusy * window.window_ns, kLongest * window.window_ns)) return false;
  if (!is_within(window.counted, kFewestPackets, window.busy_ns)) return false;
  return std::ranges::all_of(window.shares, [](double share) { return is_within(share, 0, 1e3); });
}

/// Adds the drift since the last window. Rows and columns of costs that would become less certain than at first are
/// scaled down together, which keeps the matrix a covariance. Returns the variance of the mean cost; gain_ holds each
/// cost's covariance with it.
double StateCosts::drift(double own_drift, double common_drift, std::span<const double> shares) noexcept {
  const double own = own_drift * own_drift / (options_.prior_sd * options_.prior_sd), alike = kLikeness * own;
  for (std::size_t i = 0; i < size(); ++i) {
    common_[i] = common_drift * costs_ns_[i];
    own_variance_[i] = covariance(i, i) + own * prior_variance_[i] + common_[i] * common_[i];
    scale_[i] = own_variance_[i] > prior_variance_[i] ? std::sqrt(prior_variance_[i] / own_variance_[i]) : 1;
  }
  std::ranges::fill(gain_, 0.0);
  for (std::size_t i = 0; i < size(); ++i) {
    double* const row = &covariance(i, 0);
    const double common = common_[i], scale = scale_[i], prior = prior_variance_[i];
    for (std::size_t j = 0; j < size(); ++j)
      row[j] = (row[j] + alike * std::min(prior, prior_variance_[j]) + common * common_[j]) * (scale * scale_[j]);
    row[i] = own_variance_[i] * scale * scale;
    if (shares[i] == 0) continue;
    for (std::size_t j = 0; j < size(); ++j) gain_[j] += shares[i] * row[j];
  }
  return std::inner_product(gain_.begin(), gain_.end(), shares.begin(), 0.0);
}

/// Moves costs that equal windows cannot determine, those within the mean, back to the given ones, scaled to present
/// costs.
void StateCosts::relax(std::span<const double> shares, double mean_ns) noexcept {
  const double given_ns = std::inner_product(prior_ns_.begin(), prior_ns_.end(), shares.begin(), 0.0);
  if (!(given_ns > 0 && mean_ns > 0)) return;
  const double dearer = mean_ns / given_ns;
  for (std::size_t i = 0; i < size(); ++i) {
    const double unsure = prior_variance_[i] > 0 ? std::min(1.0, covariance(i, i) / prior_variance_[i]) : 0;
    costs_ns_[i] += options_.relaxing * unsure * (dearer * prior_ns_[i] - costs_ns_[i]);
  }
}

bool StateCosts::add_window(const Window& window) noexcept {
  if (!is_possible(window)) return false;
  const double observed_ns = window.busy_ns / window.counted, told_ns = mean_cost_ns(window.shares);
  if (!is_within(observed_ns, told_ns / (kFurthest * kFurthest), told_ns * kFurthest * kFurthest)) return false;
  relax(window.shares, told_ns);
  const double predicted_ns = mean_cost_ns(window.shares);
  const double busy = std::min(1.0, window.busy_ns / window.window_ns);
  const double largest_ns = std::max(observed_ns, predicted_ns), missed_ns = observed_ns - predicted_ns;
  const double noise = largest_ns * largest_ns * (options_.noise * options_.noise / busy + 1 / window.counted);
  double variance = noise + drift(options_.own_drift, options_.common_drift, window.shares);
  if (missed_ns * missed_ns > kSurprise * kSurprise * variance)
    variance = noise + drift(options_.jump, options_.jump, window.shares);
  const double root = 1 / std::sqrt(variance), innovation = missed_ns * root;
  for (std::size_t i = 0; i < size(); ++i) {
    gain_[i] *= root;
    costs_ns_[i] = std::min(std::max(costs_ns_[i] + gain_[i] * innovation, least_ns_[i]), most_ns_[i]);
  }
  for (std::size_t i = 0; i < size(); ++i) {
    double* const row = &covariance(i, 0);
    for (std::size_t j = 0; j < size(); ++j) row[j] -= gain_[i] * gain_[j];
  }
  residual_ += kResidualLearning * busy * (observed_ns / predicted_ns - 1 - residual_);
  return true;
}

double StateCosts::sd_ns(std::size_t state) const noexcept {
  return std::sqrt(std::max(0.0, covariance_[state * size() + state]));
}

double StateCosts::mean_cost_ns(std::span<const double> shares) const noexcept {
  return std::inner_product(costs_ns_.begin(), costs_ns_.end(), shares.begin(), 0.0);
}

void make_monotone(const StateGraph& graph, std::span<const double> sds_ns, std::span<const double> shares,
                   std::span<double> costs_ns) noexcept {
  const auto least_ns = [&](std::uint8_t state) {
    const std::uint8_t lighter = graph.lighter(state);
    return lighter == state ? costs_ns[state] : costs_ns[lighter] * (1 + kStep) + kStep;
  };
  const auto states = graph.root_first();
  if (std::ranges::all_of(states, [&](std::uint8_t state) { return costs_ns[state] >= least_ns(state); })) return;

  const double before_ns = std::inner_product(shares.begin(), shares.end(), costs_ns.begin(), 0.0);

  // Keeps lighter states below heavier ones of greater certainty; then heavier ones above what is left.
  std::array<std::uint8_t, StateGraph::kMostStates> order;
  const auto surest = std::span(order).first(states.size());
  std::ranges::copy(states, surest.begin());
  std::ranges::sort(surest, {}, [&](std::uint8_t state) { return std::pair(sds_ns[state], state); });
  std::array<double, StateGraph::kMostStates> most_ns;
  most_ns.fill(std::numeric_limits<double>::infinity());
  for (const std::uint8_t state : surest) {
    costs_ns[state] = std::min(costs_ns[state], most_ns[state]);
    for (std::uint8_t at = state; graph.lighter(at) != at;) {
      at = graph.lighter(at);
      if (most_ns[at] <= costs_ns[state]) break;
      most_ns[at] = costs_ns[state];
    }
  }
  for (const std::uint8_t state : states) costs_ns[state] = std::max(costs_ns[state], least_ns(state));

  const double after_ns = std::inner_product(shares.begin(), shares.end(), costs_ns.begin(), 0.0);
  if (!(before_ns > 0 && after_ns > 0)) return;
  for (double& cost : costs_ns) cost *= before_ns / after_ns;
}

}  // namespace parshall::lab
