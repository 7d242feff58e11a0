// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "classify/c45_split.hpp"

namespace parshall::c45 {

/// Node of a tree while it grows.
struct Node {
  Weights weights;  ///< weights of the cases that reached it
  Split split;
  std::unique_ptr<Node> up_to, above;  ///< both null for a leaf

  bool is_leaf() const noexcept { return up_to == nullptr; }
  void make_leaf() noexcept { up_to.reset(), above.reset(); }
};

/// Merges leaves whose split corrects no training flow's class.
void collapse(Node& node);

/// Replaces a subtree by a leaf, or by its larger branch, if that is not expected to make more errors.
///
/// Error:  a leaf's error rate is taken as the upper bound of an interval of `confidence`. This is a rule of thumb, as
///         the flows are those that the tree grew from.
/// Source: Quinlan, C4.5: Programs for Machine Learning, 1993, section 4.2. Where it leaves details open, as in
///         trees.J48 of Weka 3.8.
class Pruner {
 public:
  Pruner(const Samples& samples, double confidence);

  /// Prunes a node; `cases` are those that reached it.
  void prune(Node& node, std::span<const Case> cases) const;

 private:
  double errors_of_leaf(const Weights& weights) const;
  double errors_of_tree(const Node& node) const;
  double errors_of_branch(const Node& node, std::span<const Case> cases) const;
  double added_errors(double flows, double errors) const;
  void send_down(Node& node, std::span<const Case> cases) const;

  const Samples& samples_;
  double confidence_;
  double deviations_;  ///< point of the standard normal distribution above which `confidence` of it lies
};

}  // namespace parshall::c45
