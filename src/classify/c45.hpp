// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "classify/decision_tree.hpp"
#include "classify/model.hpp"

namespace parshall {

/// Grows and prunes a DecisionTree as C4.5 does: of options it takes longest, reject, confidence and least_flows.
///
/// Cost:   n log n for each packet and level of the tree; 16 bytes for each flow.
/// Source: Quinlan, C4.5: Programs for Machine Learning, 1993. Trees are those of trees.J48 of Weka 3.8 with -C
///         confidence -M least_flows, and -U where confidence is 0.
std::unique_ptr<Model> train_c45(const Samples& samples, const TrainingOptions& options);

/// The nodes of such a tree of samples whose sizes are at most longest, as if each flow were there times[flow] times.
std::vector<DecisionTree::Node> grow_c45(const Samples& samples, std::span<const std::uint32_t> times,
                                         const TrainingOptions& options);

}  // namespace parshall
