// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "classify/c45_split.hpp"

namespace parshall::c45 {

/// A node while its tree grows.
struct Node {
  Weights weights;  ///< that came here
  Split split;
  std::unique_ptr<Node> up_to, above;  ///< null both of a leaf

  bool is_leaf() const noexcept { return up_to == nullptr; }
  void make_leaf() noexcept { up_to.reset(), above.reset(); }
};

/// Joins leaves whose split makes no training flow's class right.
void collapse(Node& node);

/// Replaces a subtree by a leaf, or by its larger branch, where that is expected to err no more often.
///
/// Error:  leaves err as often as the upper bound of an interval of `confidence` says: a rule of thumb, since the flows
///         are those that the tree grew by.
/// Source: Quinlan, C4.5: Programs for Machine Learning, 1993, section 4.2. Where it leaves it open, as in trees.J48 of
///         Weka 3.8.
class Pruner {
 public:
  Pruner(const Samples& samples, double confidence);

  /// cases: that came to the node.
  void prune(Node& node, std::span<const Case> cases) const;

 private:
  double errors_of_leaf(const Weights& weights) const;
  double errors_of_tree(const Node& node) const;
  double errors_of_branch(const Node& node, std::span<const Case> cases) const;
  double added_errors(double flows, double errors) const;
  void send_down(Node& node, std::span<const Case> cases) const;

  const Samples& samples_;
  double confidence_;
  double deviations_;  ///< of the standard normal distribution, above which `confidence` of it is
};

}  // namespace parshall::c45
