// SPDX-License-Identifier: Apache-2.0
#include "classify/decision_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "classify/model_reader.hpp"
#include "classify/tree_text.hpp"

namespace parshall {
namespace {

constexpr std::size_t kAtOnce = 16;  // flows
constexpr std::uint16_t kNoneAbove = std::numeric_limits<std::uint16_t>::max();
constexpr std::string_view kTreeKeys[] = {"nodes"};

double sum_of(std::span<const DecisionTree::Weight> weights) {
  double sum = 0;
  for (const auto& weight : weights) sum += weight.flows;
  return sum;
}

}  // namespace

DecisionTree::DecisionTree(ModelHead head, std::vector<Node> nodes)
    : Model(std::move(head)), nodes_(std::move(nodes)), flows_(nodes_.size()), class_(nodes_.size(), kUnknownClass) {
  std::vector<double> shares(classes().size());
  for (std::size_t at = nodes_.size(); at-- > 0;) {
    const Node& node = nodes_[at];
    flows_[at] = node.is_leaf() ? sum_of(node.weights) : flows_[node.child] + flows_[node.child + 1];
    if (!node.is_leaf() || flows_[at] == 0) continue;
    std::ranges::fill(shares, 0);
    for (const Weight& weight : node.weights) shares[weight.id] = weight.flows / flows_[at];
    class_[at] = most_likely(shares, reject());
  }
  for (const Node& node : nodes_)
    steps_.push_back(node.is_leaf() ? Step{0, kNoneAbove, static_cast<std::uint32_t>(steps_.size())}
                                    : Step{node.packet, node.up_to, node.child});
}

template <std::size_t Flows>
void DecisionTree::descend(const std::uint16_t* sizes, std::uint32_t* leaves) const noexcept {
  std::array<std::uint32_t, Flows> at{};
  std::uint32_t moved = 1;
  while (moved != 0) {
    moved = 0;
    for (std::size_t flow = 0; flow < Flows; ++flow) {
      const Step step = steps_[at[flow]];
      const std::uint32_t next = step.child + (sizes[flow * packets() + step.packet] > step.up_to ? 1 : 0);
      moved |= next ^ at[flow];
      at[flow] = next;
    }
  }
  std::ranges::copy(at, leaves);
}

void DecisionTree::find_leaves(std::span<const std::uint16_t> sizes, std::span<std::uint32_t> leaves) const noexcept {
  std::size_t flow = 0;
  for (; flow + kAtOnce <= leaves.size(); flow += kAtOnce)
    descend<kAtOnce>(sizes.data() + flow * packets(), leaves.data() + flow);
  for (; flow < leaves.size(); ++flow) descend<1>(sizes.data() + flow * packets(), leaves.data() + flow);
}

void DecisionTree::classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept {
  std::array<std::uint32_t, kAtOnce> leaves;
  for (std::size_t flow = 0; flow < ids.size(); flow += kAtOnce) {
    const auto now = std::span(leaves).first(std::min(kAtOnce, ids.size() - flow));
    find_leaves(sizes.subspan(flow * packets(), now.size() * packets()), now);
    for (std::size_t i = 0; i < now.size(); ++i) ids[flow + i] = class_[now[i]];
  }
}

void DecisionTree::probabilities(std::span<const std::uint16_t> sizes, std::span<double> out) const {
  struct Part {
    std::uint32_t at;
    double share;
  };
  std::vector<Part> parts{{0, 1.0}};
  std::ranges::fill(out, 0);
  while (!parts.empty()) {
    const auto [at, share] = parts.back();
    parts.pop_back();
    const Node& node = nodes_[at];
    if (flows_[at] == 0) continue;
    if (node.is_leaf()) {
      for (const Weight& weight : node.weights) out[weight.id] += share * (weight.flows / flows_[at]);
    } else if (sizes[node.packet] == Samples::kMissing) {
      for (const std::uint32_t child : {node.child, node.child + 1})
        parts.push_back({child, share * (flows_[child] / flows_[at])});
    } else {
      parts.push_back({node.child + (sizes[node.packet] > node.up_to ? 1 : 0), share});
    }
  }
}

std::string DecisionTree::parameters() const { return fmt::format("[{}]\n{}", kKind, nodes_text(nodes_, classes())); }

std::unique_ptr<Model> DecisionTree::read(ModelHead head, ModelReader& reader) {
  const toml::table* const own = reader.table(reader.file(), kKind);
  if (own == nullptr) return nullptr;
  reader.check_keys(*own, kTreeKeys);
  std::vector<Node> nodes = read_nodes(*own, head, reader);
  if (reader.problem()) return nullptr;
  return std::make_unique<DecisionTree>(std::move(head), std::move(nodes));
}

}  // namespace parshall
