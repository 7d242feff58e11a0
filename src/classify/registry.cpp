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
    {DecisionTree::kKind, "pruned C4.5 decision tree: shows which sizes matter, and why", train_c45,
     DecisionTree::read},
    {Forest::kKind, "forest of C4.5 trees on resampled captures, which averages their answers: most accurate, slowest",
     Forest::train, Forest::read},
};

}  // namespace

std::span<const ModelKind> model_kinds() noexcept { return kKinds; }

const ModelKind* find_model_kind(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kKinds, name, &ModelKind::name);
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace parshall
