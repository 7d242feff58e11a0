// SPDX-License-Identifier: Apache-2.0
#include "classify/c45.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "classify/decision_tree.hpp"
#include "reference.hpp"

namespace parshall {
namespace {

DecisionTree tree_of(const Samples& samples, const TrainingOptions& options = {}) {
  return std::move(dynamic_cast<DecisionTree&>(*train_c45(samples, options)));
}

std::size_t leaves_of(const DecisionTree& tree) {
  return static_cast<std::size_t>(std::ranges::count_if(tree.nodes(), &DecisionTree::Node::is_leaf));
}

struct Variant {
  std::string answers;
  TrainingOptions options;
};
const std::vector<Variant> kVariants = {{"default", {}},
                                        {"unpruned", {.confidence = 0}},
                                        {"c10m5", {.confidence = 0.1, .least_flows = 5}},
                                        {"c50m1", {.confidence = 0.5, .least_flows = 1}}};

/// J48's tree, of which the first line says the options and the last one what it predicts.
void expect_tree(const DecisionTree& tree, const std::vector<std::vector<std::string>>& answers) {
  ASSERT_EQ(tree.nodes().size(), answers.size() - 2);
  for (std::size_t at = 0; at < tree.nodes().size(); ++at) {
    const DecisionTree::Node& node = tree.nodes()[at];
    const auto& line = answers[at + 1];
    ASSERT_EQ(line[0], node.is_leaf() ? "leaf" : "split") << "node " << at;
    if (node.is_leaf()) {
      std::vector<double> flows(line.size() - 1);
      for (const auto& weight : node.weights) flows[weight.id] = weight.flows;
      for (std::size_t id = 0; id < flows.size(); ++id)
        EXPECT_NEAR(flows[id], std::stod(line[id + 1]), 1e-9) << "node " << at << ", class " << id;
    } else {
      EXPECT_EQ(node.packet, std::stoul(line[1])) << "node " << at;
      EXPECT_EQ(node.up_to, std::stoul(line[2])) << "node " << at;
    }
  }
}

class TreesOfJ48 : public ::testing::TestWithParam<std::string> {};

TEST_P(TreesOfJ48, AreGrownNodeByNodeWithTheSameWeights) {
  const Samples samples = reference::samples_of(GetParam());
  for (const auto& [answers, options] : kVariants) {
    SCOPED_TRACE(answers);
    expect_tree(tree_of(samples, options), reference::answers_of(GetParam(), answers));
  }
}

TEST_P(TreesOfJ48, PredictTheSameClassOfEveryFlow) {
  const Samples samples = reference::samples_of(GetParam());
  for (const auto& [answers, options] : kVariants) {
    SCOPED_TRACE(answers);
    const auto predicted = predict(tree_of(samples, options), samples);
    const auto expected = reference::answers_of(GetParam(), answers).back();
    ASSERT_EQ(predicted.size(), expected.size() - 1);
    for (std::size_t flow = 0; flow < predicted.size(); ++flow)
      ASSERT_EQ(predicted[flow], std::stoul(expected[flow + 1])) << "flow " << flow;
  }
}

INSTANTIATE_TEST_SUITE_P(OfDetails, TreesOfJ48, ::testing::ValuesIn(reference::kTreeSets),
                         [](const auto& of) { return of.param; });
INSTANTIATE_TEST_SUITE_P(OfEachSet, TreesOfJ48, ::testing::ValuesIn(reference::kSets),
                         [](const auto& of) { return of.param; });

/// Flows with one packet of these sizes.
Samples one_packet(const std::vector<std::pair<std::uint16_t, std::string>>& flows) {
  Samples samples{.packets = 1};
  for (const auto& [size, name] : flows) samples.add({&size, 1}, name, "capture");
  return samples;
}

TEST(C45, PartsTwoClassesAtTheLargestSizeOfTheLower) {
  const DecisionTree tree = tree_of(one_packet({{60, "a"}, {70, "a"}, {900, "b"}, {901, "b"}}));
  ASSERT_EQ(tree.nodes().size(), 3u);
  EXPECT_EQ(tree.nodes()[0].up_to, 70);
  EXPECT_EQ(tree.nodes()[1].weights, (std::vector<DecisionTree::Weight>{{0, 2}}));
  EXPECT_EQ(tree.nodes()[2].weights, (std::vector<DecisionTree::Weight>{{1, 2}}));
}

TEST(C45, PartsNoneWhereABranchWouldHaveTooFewFlows) {
  const auto samples = one_packet({{60, "a"}, {70, "a"}, {900, "b"}, {901, "b"}});
  EXPECT_EQ(tree_of(samples, {.least_flows = 2}).nodes().size(), 3u);
  EXPECT_EQ(tree_of(samples, {.least_flows = 3}).nodes().size(), 1u);
}

TEST(C45, TakesSizesAboveTheLongestForThat) {
  const auto samples = one_packet({{1500, "a"}, {1500, "a"}, {9000, "b"}, {9001, "b"}});
  EXPECT_EQ(leaves_of(tree_of(samples, {.longest = 1500})), 1u);
  EXPECT_EQ(leaves_of(tree_of(samples, {.longest = 65535})), 2u);
}

TEST(C45, MakesOneLeafOfOneClassOrNoFlows) {
  EXPECT_EQ(tree_of(one_packet({{60, "a"}, {70, "a"}, {900, "a"}})).nodes().size(), 1u);
  Samples none{.packets = 2, .class_names = {"a", "b"}};
  const DecisionTree tree = tree_of(none);
  ASSERT_EQ(tree.nodes().size(), 1u);
  ClassId id = 0;
  const std::uint16_t sizes[] = {60, 60};
  tree.classify(sizes, {&id, 1});
  EXPECT_EQ(id, kUnknownClass);
}

TEST(C45, MakesOneLeafWhereNoSizeIsKnown) {
  EXPECT_EQ(tree_of(one_packet({{0, "a"}, {0, "b"}, {0, "a"}, {0, "b"}})).nodes().size(), 1u);
}

TEST(C45, ErrsOnAsManyTrainingFlowsWhenPrunedOrMore) {
  SplitMix64 random(7);
  Samples samples{.packets = 3};
  for (int flow = 0; flow < 2000; ++flow) {
    const auto size = [&] { return static_cast<std::uint16_t>(40 + random.below(400)); };
    const std::uint16_t sizes[] = {size(), size(), size()};
    const bool is_long = sizes[0] + sizes[1] > 480;
    samples.add(sizes, is_long != (random.below(10) == 0) ? "long" : "short", "capture");
  }
  std::size_t last_leaves = samples.size(), last_wrong = 0;
  for (const double confidence : {0.0, 0.5, 0.25, 0.05, 0.001}) {
    const DecisionTree tree = tree_of(samples, {.confidence = confidence});
    const auto predicted = predict(tree, samples);
    std::size_t wrong = 0;
    for (std::size_t flow = 0; flow < samples.size(); ++flow) wrong += predicted[flow] != samples.classes[flow];
    EXPECT_LE(leaves_of(tree), last_leaves) << confidence;
    EXPECT_GE(wrong, last_wrong) << confidence;
    last_leaves = leaves_of(tree);
    last_wrong = wrong;
  }
  EXPECT_GT(last_leaves, 2u);
}

}  // namespace
}  // namespace parshall
