// SPDX-License-Identifier: Apache-2.0
#include "classify/registry.hpp"

#include <algorithm>
#include <iterator>

#include "classify/c45.hpp"
#include "classify/decision_tree.hpp"
#include "classify/forest.hpp"
#include "classify/naive_bayes.hpp"

namespace parshall {
namespace {

constexpr ModelKind kKinds[] = {
    {NaiveBayes::kKind, "Gaussian naive Bayes by lookup tables: fast to train, smooth", NaiveBayes::train,
     NaiveBayes::read},
    {DecisionTree::kKind, "decision tree of C4.5, pruned: sizes that matter, and why", train_c45, DecisionTree::read},
    {Forest::kKind, "trees of C4.5 on captures drawn anew, and the mean of what they say: right most often, slowest",
     Forest::train, Forest::read},
};

}  // namespace

std::span<const ModelKind> model_kinds() noexcept { return kKinds; }

const ModelKind* find_model_kind(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kKinds, name, &ModelKind::name);
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace parshall
