// SPDX-License-Identifier: Apache-2.0
#include "classify/forest.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "classify/c45.hpp"
#include "reference.hpp"

namespace parshall {
namespace {

using Node = DecisionTree::Node;

ModelHead forest_head(std::size_t packets, std::size_t classes, double reject = 0) {
  ModelHead head{.packets = packets, .longest = 1500, .reject = reject};
  for (std::size_t id = 0; id < classes; ++id) head.classes.push_back("app" + std::to_string(id));
  return head;
}

/// Up to so many bytes of the first packet these flows by class, above it those.
DecisionTree stump(std::uint16_t up_to, std::vector<DecisionTree::Weight> below,
                   std::vector<DecisionTree::Weight> above) {
  return {forest_head(1, 3),
          {{.packet = 0, .up_to = up_to, .child = 1}, {.weights = std::move(below)}, {.weights = std::move(above)}}};
}

Forest two_stumps(double reject) {
  std::vector<DecisionTree> trees;
  trees.push_back(stump(100, {{0, 9}, {1, 1}}, {{1, 5}, {2, 5}}));
  trees.push_back(stump(200, {{1, 400}}, {{2, 3}, {0, 1}}));
  return {forest_head(1, 3, reject), std::move(trees)};
}

ClassId class_by_forest(const Forest& forest, std::uint16_t size) {
  ClassId id = kNotClassified;
  forest.classify({&size, 1}, {&id, 1});
  return id;
}

/// Flows of each of so many captures, whose sizes and class are the capture's own.
Samples one_class_a_capture(std::uint16_t captures, int flows) {
  Samples samples{.packets = 1};
  for (std::uint16_t capture = 0; capture < captures; ++capture)
    for (int flow = 0; flow < flows; ++flow) {
      const auto size = static_cast<std::uint16_t>(100 * (capture + 1));
      samples.add({&size, 1}, "app" + std::to_string(capture), "capture" + std::to_string(capture));
    }
  return samples;
}

std::vector<double> flows_of_classes(const DecisionTree& tree) {
  std::vector<double> flows(tree.classes().size());
  for (const Node& node : tree.nodes())
    for (const auto& weight : node.weights) flows[weight.id] += weight.flows;
  return flows;
}

TEST(Forest, SaysTheMeanOfItsTreesWhateverTheirFlows) {
  const Forest forest = two_stumps(0);
  EXPECT_EQ(class_by_forest(forest, 100), 1);  // 0.45, 0.55, 0, though tree by tree 0 has more than half of one
  EXPECT_EQ(class_by_forest(forest, 150), 1);  // 0, 0.75, 0.25
  EXPECT_EQ(class_by_forest(forest, 201), 2);  // 0.125, 0.25, 0.625
  std::vector<double> shares(3);
  const std::uint16_t size = 201;
  forest.probabilities({&size, 1}, shares);
  EXPECT_EQ(shares, (std::vector<double>{0.125, 0.25, 0.625}));
}

TEST(Forest, RejectsByTheMeanAlone) {
  EXPECT_EQ(class_by_forest(two_stumps(0.6), 100), kUnknownClass);
  EXPECT_EQ(class_by_forest(two_stumps(0.54), 100), 1);
  EXPECT_EQ(class_by_forest(two_stumps(0.76), 150), kUnknownClass);
  EXPECT_EQ(class_by_forest(two_stumps(0.74), 150), 1);
}

TEST(Forest, ClassifiesAnyNumberOfFlowsAsTheirProbabilitiesSay) {
  const Samples samples = reference::samples_of("twelve");
  const auto forest = Forest::train(samples, {.reject = 0.3, .trees = 7});
  SplitMix64 random(1);
  for (const std::size_t flows : {0, 1, 15, 16, 17, 1000}) {
    std::vector<std::uint16_t> sizes(flows * samples.packets);
    for (std::uint16_t& size : sizes) size = static_cast<std::uint16_t>(1 + random.below(1600));
    std::vector<ClassId> ids(flows);
    forest->classify(sizes, ids);
    std::vector<double> shares(samples.class_names.size());
    for (std::size_t flow = 0; flow < flows; ++flow) {
      forest->probabilities(std::span(sizes).subspan(flow * samples.packets, samples.packets), shares);
      ASSERT_EQ(ids[flow], most_likely(shares, 0.3)) << flow << " of " << flows;
    }
  }
}

TEST(Forest, GrowsEachTreeOnWholeCapturesDrawnAnew) {
  constexpr int kFlows = 10, kCaptures = 8;
  const auto model = Forest::train(one_class_a_capture(kCaptures, kFlows), {.trees = 32});
  const auto& forest = dynamic_cast<const Forest&>(*model);
  ASSERT_EQ(forest.trees().size(), 32u);
  std::set<std::vector<double>> drawn;
  std::size_t left_out = 0;
  for (const DecisionTree& tree : forest.trees()) {
    const std::vector<double> flows = flows_of_classes(tree);
    double all = 0;
    for (const double of_class : flows) {
      EXPECT_EQ(of_class, kFlows * static_cast<int>(of_class / kFlows));
      left_out += of_class == 0 ? 1 : 0;
      all += of_class;
    }
    EXPECT_EQ(all, kFlows * kCaptures);
    drawn.insert(flows);
  }
  EXPECT_GT(drawn.size(), 28u);
  EXPECT_NEAR(static_cast<double>(left_out) / (32 * kCaptures), 0.344, 0.1);  // (7/8)^8
}

TEST(Forest, OfOneCaptureHasTheTreeOfC45EachTime) {
  Samples samples = reference::samples_of("mislabelled");
  samples.captures.assign(samples.size(), 0);
  const auto tree = train_c45(samples, {});
  const auto model = Forest::train(samples, {.trees = 3});
  for (const DecisionTree& one : dynamic_cast<const Forest&>(*model).trees())
    EXPECT_EQ(one.parameters(), tree->parameters());
}

TEST(Forest, IsTheSameEachTimeItIsTrained) {
  const Samples samples = reference::samples_of("mixed");
  EXPECT_EQ(Forest::train(samples, {})->parameters(), Forest::train(samples, {})->parameters());
}

}  // namespace
}  // namespace parshall
