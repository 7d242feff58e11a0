// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "classify/decision_tree.hpp"
#include "classify/model.hpp"

namespace parshall {

/// Grows and prunes a DecisionTree like C4.5. Uses the options longest, reject, confidence and least_flows.
///
/// Cost:   n log n for each packet and level of the tree; 16 bytes for each flow.
/// Source: Quinlan, C4.5: Programs for Machine Learning, 1993. Trees equal those of trees.J48 of Weka 3.8 with -C
///         confidence -M least_flows, and -U if confidence is 0.
std::unique_ptr<Model> train_c45(const Samples& samples, const TrainingOptions& options);

/// Returns the nodes of such a tree, as if each flow occurred times[flow] times. Sizes must be at most longest.
std::vector<DecisionTree::Node> grow_c45(const Samples& samples, std::span<const std::uint32_t> times,
                                         const TrainingOptions& options);

}  // namespace parshall
