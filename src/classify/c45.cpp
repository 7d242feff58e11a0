// SPDX-License-Identifier: Apache-2.0
#include "classify/c45.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "classify/c45_prune.hpp"
#include "classify/c45_split.hpp"
#include "classify/decision_tree.hpp"

namespace parshall {
namespace {

std::unique_ptr<c45::Node> grow(const Samples& samples, const c45::Splitter& splitter, std::vector<c45::Case> cases) {
  auto node = std::make_unique<c45::Node>(c45::Node{.weights = c45::Weights(samples, cases)});
  const auto split = splitter.best(cases);
  if (!split) return node;
  node->split = *split;
  c45::Parts parts = c45::divide(samples, cases, *split);
  std::vector<c45::Case>().swap(cases);  // frees memory, since all levels together may need a lot
  node->up_to = grow(samples, splitter, std::move(parts.up_to));
  node->above = grow(samples, splitter, std::move(parts.above));
  return node;
}

DecisionTree::Node in_place(const c45::Node& node, std::size_t child) {
  if (!node.is_leaf())
    return {.packet = static_cast<std::uint16_t>(node.split.packet),
            .up_to = node.split.up_to,
            .child = static_cast<std::uint32_t>(child)};
  DecisionTree::Node leaf;
  const auto& by_class = node.weights.by_class;
  for (std::size_t id = 0; id < by_class.size(); ++id)
    if (by_class[id] > 0) leaf.weights.push_back({static_cast<ClassId>(id), by_class[id]});
  return leaf;
}

std::vector<DecisionTree::Node> level_by_level(const c45::Node& root) {
  std::vector<const c45::Node*> order{&root};
  std::vector<DecisionTree::Node> nodes;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const c45::Node& node = *order[at];
    nodes.push_back(in_place(node, order.size()));
    if (node.is_leaf()) continue;
    order.push_back(node.up_to.get());
    order.push_back(node.above.get());
  }
  return nodes;
}

}  // namespace

std::vector<DecisionTree::Node> grow_c45(const Samples& samples, std::span<const std::uint32_t> times,
                                         const TrainingOptions& options) {
  std::vector<c45::Case> cases;
  for (std::size_t flow = 0; flow < times.size(); ++flow)
    if (times[flow] != 0) cases.push_back({static_cast<std::uint32_t>(flow), static_cast<double>(times[flow])});
  const auto root = grow(samples, c45::Splitter(samples, options.least_flows), cases);
  c45::collapse(*root);
  if (options.confidence > 0) c45::Pruner(samples, options.confidence).prune(*root, cases);
  return level_by_level(*root);
}

std::unique_ptr<Model> train_c45(const Samples& samples, const TrainingOptions& options) {
  Samples bounded = samples;
  bounded.cap(options.longest);
  const std::vector<std::uint32_t> once(bounded.size(), 1);
  return std::make_unique<DecisionTree>(
      ModelHead{samples.packets, options.longest, options.reject, samples.class_names},
      grow_c45(bounded, once, options));
}

}  // namespace parshall
