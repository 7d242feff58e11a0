// SPDX-License-Identifier: Apache-2.0
#include "control/state_costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace parshall {
namespace {

constexpr double kFurthest = 20;  ///< times as much as given, or as little: no cost is told beyond
constexpr double kLongest = 2;    ///< windows' time that one can be busy: the last batch began within it
constexpr double kResidualLearning = 0.1;
constexpr double kLikeness = 0.9;       ///< correlation of states that are given the same cost
constexpr std::size_t kMostMoves = 32;  ///< of costs that are out of order; what is left has the next window
constexpr double kStep = 1e-6;          ///< of a cost, that the heavier state costs more at least

bool is_within(double value, double least, double most) noexcept { return value >= least && value <= most; }

}  // namespace

StateCosts::StateCosts(std::span<const double> costs_ns, Options options) : options_(options) {
  double largest_ns = 0;
  for (const double cost : costs_ns) {
    prior_ns_.push_back(is_within(cost, 0, 1e9) ? cost : 0);
    largest_ns = std::max(largest_ns, prior_ns_.back());
  }
  // Of what is given as nothing, or next to it, something has to be learnt too.
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
  prior_covariance_ = covariance_;
  common_.resize(size());
  scale_.resize(size());
  gain_.resize(size());
}

bool StateCosts::is_possible(const Window& window) const noexcept {
  if (!is_within(window.window_ns, 1, 1e12) || window.shares.size() != size()) return false;
  if (!is_within(window.busy_ns, kLeastBusy * window.window_ns, kLongest * window.window_ns)) return false;
  if (!is_within(window.counted, kFewestPackets, window.busy_ns)) return false;
  double shares = 0;
  for (const double share : window.shares) {
    if (!is_within(share, 0, 1e3)) return false;
    shares += share;
  }
  return shares > 1e-3;
}

/// What costs may have moved since the last window. Rows and columns of costs that would be less sure than at first are
/// scaled down together, which keeps it a covariance.
void StateCosts::drift() noexcept {
  const double own = options_.own_drift * options_.own_drift / (options_.prior_sd * options_.prior_sd);
  for (std::size_t i = 0; i < size(); ++i) {
    common_[i] = options_.common_drift * costs_ns_[i];
    const double variance = covariance(i, i) + own * prior_variance_[i] + common_[i] * common_[i];
    scale_[i] = variance > prior_variance_[i] ? std::sqrt(prior_variance_[i] / variance) : 1;
  }
  for (std::size_t i = 0; i < size(); ++i) {
    double* const row = &covariance(i, 0);
    const double* const prior = &prior_covariance_[i * size()];
    for (std::size_t j = 0; j < size(); ++j)
      row[j] = (row[j] + own * prior[j] + common_[i] * common_[j]) * (scale_[i] * scale_[j]);
  }
}

/// Moves all costs along `direction`, as far as costs may go.
void StateCosts::move(std::span<const double> direction, double by) noexcept {
  for (std::size_t i = 0; i < size(); ++i)
    costs_ns_[i] = std::min(std::max(costs_ns_[i] + by * direction[i], least_ns_[i]), most_ns_[i]);
}

bool StateCosts::add_window(const Window& window) noexcept {
  if (!is_possible(window)) return false;
  const double observed_ns = window.busy_ns / window.counted, predicted_ns = mean_cost_ns(window.shares);
  if (!is_within(observed_ns, predicted_ns / (kFurthest * kFurthest), predicted_ns * kFurthest * kFurthest))
    return false;
  drift();
  std::ranges::fill(gain_, 0.0);
  for (std::size_t i = 0; i < size(); ++i) {
    if (window.shares[i] == 0) continue;
    const double* const row = &covariance(i, 0);
    for (std::size_t j = 0; j < size(); ++j) gain_[j] += window.shares[i] * row[j];
  }
  const double busy = std::min(1.0, window.busy_ns / window.window_ns);
  const double noise_ns = std::max(observed_ns, predicted_ns);
  double variance = noise_ns * noise_ns * (options_.noise * options_.noise / busy + 1 / window.counted);
  for (std::size_t i = 0; i < size(); ++i) variance += window.shares[i] * gain_[i];
  const double root = 1 / std::sqrt(variance), innovation = (observed_ns - predicted_ns) * root;
  for (double& gain : gain_) gain *= root;
  move(gain_, innovation);
  for (std::size_t i = 0; i < size(); ++i) {
    double* const row = &covariance(i, 0);
    for (std::size_t j = 0; j < size(); ++j) row[j] -= gain_[i] * gain_[j];
  }
  residual_ += kResidualLearning * busy * (observed_ns / predicted_ns - 1 - residual_);
  return true;
}

/// Each as an observation without noise that the two cost the same, whose covariance nobody keeps: that they do is not
/// known.
void StateCosts::keep_order(const StateGraph& graph, std::span<const double> factors) noexcept {
  std::size_t moves = 0;
  for (bool moved = true; moved && moves < kMostMoves;) {
    moved = false;
    for (const std::uint8_t heavy : graph.root_first()) {
      const std::uint8_t light = graph.lighter(heavy);
      const double f = factors[heavy], g = factors[light];
      const double missing_ns = g * costs_ns_[light] * (1 + 2 * kStep) + 2 * kStep - f * costs_ns_[heavy];
      if (heavy == light || !(missing_ns > 0)) continue;
      const double* const up = &covariance(heavy, 0);
      const double* const down = &covariance(light, 0);
      const double variance = f * (f * up[heavy] - g * up[light]) - g * (f * down[heavy] - g * down[light]);
      if (!(variance > 0) || ++moves > kMostMoves) continue;
      for (std::size_t i = 0; i < size(); ++i) gain_[i] = f * up[i] - g * down[i];
      move(gain_, missing_ns / variance);
      moved = true;
    }
  }
}

double StateCosts::sd_ns(std::size_t state) const noexcept {
  return std::sqrt(std::max(0.0, covariance_[state * size() + state]));
}

double StateCosts::mean_cost_ns(std::span<const double> shares) const noexcept {
  return std::inner_product(costs_ns_.begin(), costs_ns_.end(), shares.begin(), 0.0);
}

void make_monotone(const StateGraph& graph, std::span<const double> sds_ns, std::span<double> costs_ns) noexcept {
  const auto least_ns = [&](std::uint8_t state) {
    const std::uint8_t lighter = graph.lighter(state);
    return lighter == state ? costs_ns[state] : costs_ns[lighter] * (1 + kStep) + kStep;
  };
  const auto states = graph.root_first();
  if (std::ranges::all_of(states, [&](std::uint8_t state) { return costs_ns[state] >= least_ns(state); })) return;

  // The surest first; those that come after keep between the sure ones that are lighter and heavier than they.
  std::array<std::uint8_t, StateGraph::kMostStates> order;
  const auto surest = std::span(order).first(states.size());
  std::ranges::copy(states, surest.begin());
  std::ranges::sort(surest, {}, [&](std::uint8_t state) { return std::pair(sds_ns[state], state); });
  std::array<double, StateGraph::kMostStates> most_ns;
  most_ns.fill(std::numeric_limits<double>::infinity());
  std::uint64_t settled = 0;
  for (const std::uint8_t state : surest) {
    double least = 0;
    for (std::uint8_t at = state; graph.lighter(at) != at && least == 0;) {
      at = graph.lighter(at);
      if (settled >> at & 1) least = costs_ns[at];
    }
    costs_ns[state] = std::max(least, std::min(costs_ns[state], most_ns[state]));
    settled |= std::uint64_t{1} << state;
    for (std::uint8_t at = state; graph.lighter(at) != at;) {
      at = graph.lighter(at);
      if (most_ns[at] <= costs_ns[state]) break;
      most_ns[at] = costs_ns[state];
    }
  }
  for (const std::uint8_t state : states) costs_ns[state] = std::max(costs_ns[state], least_ns(state));
}

}  // namespace parshall
