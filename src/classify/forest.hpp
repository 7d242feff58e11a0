// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "classify/decision_tree.hpp"
#include "classify/model.hpp"

namespace parshall {

/// C4.5 trees, each grown on captures drawn anew. The result is the mean of the class shares in the leaves that a flow
/// reaches.
///
/// Whole captures are drawn, not flows, because flows of one network, day or program are similar. A peculiarity of a
/// single capture is thus not learnt by all trees.
///
/// Shape:  a DecisionTree and the classes of its leaves, 16 bytes each, for each tree.
/// Cost:   a descent in each tree, and an addition for each class of the leaf.
/// Source: Breiman, "Bagging predictors", Machine Learning 24, 1996.
class Forest final : public Model {
 public:
  static constexpr std::string_view kKind = "forest";
  static constexpr std::size_t kMostTrees = 256;

  /// Takes 1 to kMostTrees trees, with the packets, longest and classes of the head. Their own `reject` is ignored.
  Forest(ModelHead head, std::vector<DecisionTree> trees);

  /// Trains a forest. Uses the option trees, and those of C4.5.
  static std::unique_ptr<Model> train(const Samples& samples, const TrainingOptions& options);
  /// Reads a forest. Returns null, with a complaint, if it is malformed.
  static std::unique_ptr<Model> read(ModelHead head, ModelReader& reader);

  std::span<const DecisionTree> trees() const noexcept { return trees_; }

  std::string_view kind() const noexcept override { return kKind; }
  std::size_t memory_bytes() const noexcept override;
  std::string parameters() const override;
  void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept override;
  void probabilities(std::span<const std::uint16_t> sizes, std::span<double> out) const override;

 private:
  struct Vote {
    ClassId id;
    double share;  ///< weight in the whole forest
  };
  /// Votes of each node of a tree: from begins[node] up to begins[node + 1].
  struct Votes {
    std::vector<std::uint32_t> begins;
    std::vector<Vote> all;
  };

  Votes votes_of(const DecisionTree& tree) const;

  std::vector<DecisionTree> trees_;
  std::vector<Votes> votes_;  // indexed by tree
};

}  // namespace parshall
