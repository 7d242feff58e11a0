// SPDX-License-Identifier: Apache-2.0
#include "classify/c45_prune.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace parshall::c45 {
namespace {

constexpr double kNoWorse = 0.1;        // additional expected errors that a smaller tree may have
constexpr double kNoneBetter = 1e-3;    // tolerance in flows
constexpr double kMostDeviations = 38;  // beyond it the tail is less than any double above 0

double wrong(const Weights& weights) noexcept { return weights.total - weights.heaviest(); }

double wrong(const Node& node) noexcept {
  return node.is_leaf() ? wrong(node.weights) : wrong(*node.up_to) + wrong(*node.above);
}

/// Returns the x above which `share` (at most a half) of the standard normal distribution lies.
double deviations_of(double share) noexcept {
  double low = 0, high = kMostDeviations;
  for (double middle = high / 2; low < middle && middle < high; middle = (low + high) / 2)
    (std::erfc(middle / std::numbers::sqrt2) / 2 > share ? low : high) = middle;
  return high;
}

}  // namespace

void collapse(Node& node) {
  if (node.is_leaf()) return;
  if (wrong(node) >= wrong(node.weights) - kNoneBetter) return node.make_leaf();
  collapse(*node.up_to);
  collapse(*node.above);
}

Pruner::Pruner(const Samples& samples, double confidence)
    : samples_(samples), confidence_(std::min(confidence, 0.5)), deviations_(deviations_of(confidence_)) {}

/// Returns how many more errors a leaf is expected to make.
double Pruner::added_errors(double flows, double errors) const {
  if (errors < 1) {  // too few for the normal approximation
    const double of_none = flows * (1 - std::pow(confidence_, 1 / flows));
    return errors == 0 ? of_none : of_none + errors * (added_errors(flows, 1) - of_none);
  }
  if (errors + 0.5 >= flows) return std::max(flows - errors, 0.0);
  const double z = deviations_, share = (errors + 0.5) / flows;
  const double spread = std::sqrt(share / flows - share * share / flows + z * z / (4 * flows * flows));
  const double bound = (share + z * z / (2 * flows) + z * spread) / (1 + z * z / flows);
  return bound * flows - errors;
}

double Pruner::errors_of_leaf(const Weights& weights) const {
  return weights.total < kAlike ? 0 : wrong(weights) + added_errors(weights.total, wrong(weights));
}

double Pruner::errors_of_tree(const Node& node) const {
  return node.is_leaf() ? errors_of_leaf(node.weights) : errors_of_tree(*node.up_to) + errors_of_tree(*node.above);
}

/// Returns the expected errors of a node if these cases came to it instead of its own.
double Pruner::errors_of_branch(const Node& node, std::span<const Case> cases) const {
  if (node.is_leaf()) return errors_of_leaf(Weights(samples_, cases));
  const Parts parts = divide(samples_, cases, node.split);
  return errors_of_branch(*node.up_to, parts.up_to) + errors_of_branch(*node.above, parts.above);
}

void Pruner::send_down(Node& node, std::span<const Case> cases) const {
  node.weights = Weights(samples_, cases);
  if (node.is_leaf()) return;
  const Parts parts = divide(samples_, cases, node.split);
  send_down(*node.up_to, parts.up_to);
  send_down(*node.above, parts.above);
}

void Pruner::prune(Node& node, std::span<const Case> cases) const {
  if (node.is_leaf()) return;
  const Parts parts = divide(samples_, cases, node.split);
  prune(*node.up_to, parts.up_to);
  prune(*node.above, parts.above);
  auto& larger = node.up_to->weights.total - node.above->weights.total > kAlike ? node.up_to : node.above;
  const double as_leaf = errors_of_leaf(node.weights), as_tree = errors_of_tree(node);
  const double as_branch = errors_of_branch(*larger, cases);
  const auto no_worse = [](double a, double b) { return a - (b + kNoWorse) < kAlike; };
  if (no_worse(as_leaf, as_tree) && no_worse(as_leaf, as_branch)) return node.make_leaf();
  if (!no_worse(as_branch, as_tree)) return;
  const std::unique_ptr<Node> raised = std::move(larger);
  node = std::move(*raised);
  send_down(node, cases);
  prune(node, cases);
}

}  // namespace parshall::c45
