// SPDX-License-Identifier: Apache-2.0
#include "classify/decision_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "classify/model_reader.hpp"
#include "classify/toml_text.hpp"

namespace parshall {
namespace {

constexpr std::size_t kAtOnce = 16;  // flows
constexpr std::uint16_t kNoneAbove = std::numeric_limits<std::uint16_t>::max();
constexpr std::string_view kKeys[] = {"nodes"}, kLeafKeys[] = {"flows"},
                           kBranchKeys[] = {"packet", "size", "up_to", "above"};
constexpr ModelReader::Range kFlows{0, 1e15};

double sum_of(std::span<const DecisionTree::Weight> weights) {
  double sum = 0;
  for (const auto& weight : weights) sum += weight.flows;
  return sum;
}

/// Reads the nodes of a tree. Since they stand level by level, there is one place for each one's children.
class NodesReader {
 public:
  NodesReader(const ModelHead& head, ModelReader& reader) : head_(head), reader_(reader) {}

  std::vector<DecisionTree::Node> read(const toml::array& list) {
    for (const toml::node& node : list) {
      if (nodes_.size() >= next_child_)
        reader_.complain(node, "no node above leads here: every one but the first is led to");
      if (const toml::table* const from = node.as_table())
        nodes_.push_back(from->contains("flows") ? leaf(*from) : branch(*from));
      else
        reader_.complain(node, "a node is a table: {flows = {...}} or {packet = 1, size = 60, up_to = 1, above = 2}");
      if (reader_.problem()) return {};
    }
    if (next_child_ != nodes_.size())
      reader_.complain(list, fmt::format("there are {} nodes, and {} are led to", nodes_.size(), next_child_));
    return std::move(nodes_);
  }

 private:
  DecisionTree::Node branch(const toml::table& from) {
    reader_.check_keys(from, kBranchKeys);
    const auto packet = reader_.count(from, "packet", 1, head_.packets) - 1;
    const auto up_to = reader_.count(from, "size", 0, head_.longest - 1u);
    constexpr auto kAny = std::numeric_limits<std::int64_t>::max();
    const auto below = reader_.count(from, "up_to", 0, kAny), above = reader_.count(from, "above", 0, kAny);
    if (below != next_child_ || above != next_child_ + 1)
      reader_.complain(from,
                       fmt::format("up_to is {} and above is {} here, since nodes stand level by level, from 0 on",
                                   next_child_, next_child_ + 1));
    next_child_ += 2;
    return {.packet = static_cast<std::uint16_t>(packet),
            .up_to = static_cast<std::uint16_t>(up_to),
            .child = static_cast<std::uint32_t>(below)};
  }

  DecisionTree::Node leaf(const toml::table& from) {
    DecisionTree::Node node;
    reader_.check_keys(from, kLeafKeys);
    const toml::table* const flows = reader_.table(from, "flows");
    if (flows == nullptr) return node;
    for (const auto& [name, count] : *flows) {
      const auto known = std::ranges::find(head_.classes, name.str());
      if (known == head_.classes.end())
        reader_.complain(count, fmt::format("{} is not in the list of classes", name.str()));
      const auto id = static_cast<ClassId>(known - head_.classes.begin());
      node.weights.push_back({id, reader_.number(*flows, name.str(), kFlows)});
    }
    std::ranges::sort(node.weights, {}, &DecisionTree::Weight::id);
    return node;
  }

  const ModelHead& head_;
  ModelReader& reader_;
  std::vector<DecisionTree::Node> nodes_;
  std::size_t next_child_ = 1;
};

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
void DecisionTree::descend(const std::uint16_t* sizes, ClassId* ids) const noexcept {
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
  for (std::size_t flow = 0; flow < Flows; ++flow) ids[flow] = class_[at[flow]];
}

void DecisionTree::classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept {
  std::size_t flow = 0;
  for (; flow + kAtOnce <= ids.size(); flow += kAtOnce)
    descend<kAtOnce>(sizes.data() + flow * packets(), ids.data() + flow);
  for (; flow < ids.size(); ++flow) descend<1>(sizes.data() + flow * packets(), ids.data() + flow);
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

std::string DecisionTree::parameters() const {
  std::string toml = fmt::format("[{}]\nnodes = [\n", kKind);
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    const Node& node = nodes_[at];
    if (node.is_leaf()) {
      toml += "  {flows = {";
      for (const Weight& weight : node.weights)
        toml += fmt::format("{}{} = {}", &weight == node.weights.data() ? "" : ", ", quoted(classes()[weight.id]),
                            weight.flows);
      toml += fmt::format("}}}},  # {}\n", at);
    } else {
      toml += fmt::format("  {{packet = {}, size = {}, up_to = {}, above = {}}},  # {}\n", node.packet + 1, node.up_to,
                          node.child, node.child + 1, at);
    }
  }
  return toml + "]\n";
}

std::unique_ptr<Model> DecisionTree::read(ModelHead head, ModelReader& reader) {
  const toml::table* const own = reader.table(reader.file(), kKind);
  if (own == nullptr) return nullptr;
  reader.check_keys(*own, kKeys);
  const toml::array* const list = reader.list(*own, "nodes");
  if (list == nullptr || reader.problem()) return nullptr;
  std::vector<Node> nodes = NodesReader(head, reader).read(*list);
  if (reader.problem()) return nullptr;
  return std::make_unique<DecisionTree>(std::move(head), std::move(nodes));
}

}  // namespace parshall
