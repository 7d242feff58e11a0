// SPDX-License-Identifier: Apache-2.0
#include "classify/decision_tree.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

using Node = DecisionTree::Node;

ModelHead tree_head(std::size_t packets, std::size_t classes, double reject = 0) {
  ModelHead head{.packets = packets, .longest = 1500, .reject = reject};
  for (std::size_t id = 0; id < classes; ++id) head.classes.push_back("app" + std::to_string(id));
  return head;
}

Node leaf(std::vector<DecisionTree::Weight> weights) { return {.weights = std::move(weights)}; }

/// Up to 100 bytes of the first packet: class 0; else up to 200 of the second: 1 or 2, mostly 1; else 2.
DecisionTree small_tree(double reject = 0) {
  return {tree_head(2, 3, reject),
          {{.packet = 0, .up_to = 100, .child = 1},
           leaf({{0, 10}}),
           {.packet = 1, .up_to = 200, .child = 3},
           leaf({{1, 6}, {2, 4}}),
           leaf({{2, 20}})}};
}

ClassId class_by_tree(const Model& model, const std::vector<std::uint16_t>& sizes) {
  ClassId id = kNotClassified;
  model.classify(sizes, {&id, 1});
  return id;
}

std::vector<double> tree_probabilities(const Model& model, const std::vector<std::uint16_t>& sizes) {
  std::vector<double> probabilities(model.classes().size());
  model.probabilities(sizes, probabilities);
  return probabilities;
}

/// Every node is split at random until there are so many.
std::vector<Node> random_nodes(std::size_t branches, std::size_t packets, std::size_t classes, SplitMix64& random) {
  std::vector<Node> nodes;
  std::size_t next = 1;
  for (std::size_t at = 0; at < next; ++at) {
    if (branches > 0 && (next == at + 1 || random.below(4) != 0)) {
      --branches;
      nodes.push_back({.packet = static_cast<std::uint16_t>(random.below(packets)),
                       .up_to = static_cast<std::uint16_t>(random.below(1500)),
                       .child = static_cast<std::uint32_t>(next)});
      next += 2;
    } else {
      nodes.push_back(
          leaf({{static_cast<ClassId>(random.below(classes)), 1.0 + static_cast<double>(random.below(9))}}));
    }
  }
  return nodes;
}

TEST(DecisionTree, LeadsSizesUpToAndAboveToTheRightLeaves) {
  const DecisionTree tree = small_tree();
  EXPECT_EQ(class_by_tree(tree, {100, 1500}), 0);
  EXPECT_EQ(class_by_tree(tree, {101, 200}), 1);
  EXPECT_EQ(class_by_tree(tree, {101, 201}), 2);
  EXPECT_EQ(class_by_tree(tree, {65535, 65535}), 2);
}

TEST(DecisionTree, ClassifiesAsAWalkDownTheNodesDoes) {
  SplitMix64 random(1);
  for (const std::size_t packets : {1, 4, 16}) {
    const DecisionTree tree(tree_head(packets, 6), random_nodes(300, packets, 6, random));
    for (const std::size_t flows : {0, 1, 15, 16, 17, 1000}) {
      std::vector<std::uint16_t> sizes(flows * packets);
      for (std::uint16_t& size : sizes) size = static_cast<std::uint16_t>(random.below(1600));
      std::vector<ClassId> ids(flows);
      tree.classify(sizes, ids);
      for (std::size_t flow = 0; flow < flows; ++flow) {
        const Node* node = &tree.nodes()[0];
        while (!node->is_leaf())
          node = &tree.nodes()[node->child + (sizes[flow * packets + node->packet] > node->up_to ? 1 : 0)];
        ASSERT_EQ(ids[flow], node->weights[0].id);
      }
    }
  }
}

TEST(DecisionTree, RejectsLeavesWhoseHeaviestClassHasTooSmallAShare) {
  EXPECT_EQ(class_by_tree(small_tree(0.6), {101, 200}), 1);
  EXPECT_EQ(class_by_tree(small_tree(0.61), {101, 200}), kUnknownClass);
  EXPECT_EQ(class_by_tree(small_tree(1), {101, 201}), 2);
}

TEST(DecisionTree, TakesTheLowestNumberOfClassesOfOneWeightThoughItIsASumOfParts) {
  EXPECT_EQ(class_by_tree(DecisionTree(tree_head(1, 3), {leaf({{1, 5}, {2, 5}})}), {60}), 1);
  EXPECT_EQ(class_by_tree(DecisionTree(tree_head(1, 3), {leaf({{1, 0.3}, {2, 0.1 + 0.2}})}), {60}), 1);
}

TEST(DecisionTree, HasTheSharesOfALeafForProbabilities) {
  EXPECT_EQ(tree_probabilities(small_tree(), {101, 200}), (std::vector<double>{0, 0.6, 0.4}));
}

TEST(DecisionTree, WeighsBothBranchesByTheirFlowsWhereASizeIsMissing) {
  const DecisionTree tree = small_tree();
  const auto second = tree_probabilities(tree, {101, 0});  // 10 of 30 flows up to 200, of which 6 are of class 1
  EXPECT_NEAR(second[1], 0.2, 1e-15);
  EXPECT_NEAR(second[2], 0.8, 1e-15);
  const auto first = tree_probabilities(tree, {0, 200});  // 10 of 40
  EXPECT_NEAR(first[0], 0.25, 1e-15);
  EXPECT_NEAR(first[1], 0.45, 1e-15);
  EXPECT_NEAR(first[2], 0.3, 1e-15);
}

TEST(DecisionTree, KnowsNoClassInALeafWithoutFlows) {
  const DecisionTree tree(tree_head(1, 2), {leaf({})});
  EXPECT_EQ(class_by_tree(tree, {60}), kUnknownClass);
  EXPECT_EQ(tree_probabilities(tree, {60}), (std::vector<double>{0, 0}));
}

TEST(DecisionTree, IsNoSurerWhereOneOfTheBranchesThatAMissingSizeMayTakeEndsInALeafWithoutFlows) {
  const DecisionTree tree(tree_head(2, 2), {{.packet = 1, .up_to = 60, .child = 1},
                                            leaf({{0, 10}}),
                                            {.packet = 0, .up_to = 90, .child = 3},
                                            leaf({}),
                                            leaf({{1, 30}})});
  EXPECT_EQ(tree_probabilities(tree, {60, 0}), (std::vector<double>{0.25, 0}))
      << "three quarters are of what nobody saw";
  EXPECT_EQ(tree_probabilities(tree, {91, 0}), (std::vector<double>{0.25, 0.75}));
}

TEST(DecisionTree, MayBeVeryDeep) {
  constexpr std::uint32_t kDepth = 20'000;
  std::vector<Node> nodes;
  for (std::uint32_t level = 0; level < kDepth; ++level) {
    if (level > 0) nodes.push_back(leaf({{0, 1}}));
    nodes.push_back({.packet = 0, .up_to = 1, .child = 2 * level + 1});
  }
  nodes.push_back(leaf({{0, 1}}));
  nodes.push_back(leaf({{1, 1}}));
  const DecisionTree tree(tree_head(1, 2), std::move(nodes));
  EXPECT_EQ(class_by_tree(tree, {2}), 1);
  EXPECT_NEAR(tree_probabilities(tree, {0})[1], 1.0 / (kDepth + 1), 1e-12);
}

}  // namespace
}  // namespace parshall
