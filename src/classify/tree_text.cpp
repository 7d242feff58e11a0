// SPDX-License-Identifier: Apache-2.0
#include "classify/tree_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "classify/toml_text.hpp"

namespace parshall {
namespace {

constexpr std::string_view kLeafKeys[] = {"flows"}, kBranchKeys[] = {"packet", "size", "up_to", "above"};
constexpr ModelReader::Range kFlowRange{0, 1e15};

/// Reads the nodes of a tree. They are level by level, so the place of each node's children is determined.
class NodesReader {
 public:
  NodesReader(const ModelHead& head, ModelReader& reader) : head_(head), reader_(reader) {}

  std::vector<DecisionTree::Node> read(const toml::array& list) {
    for (const toml::node& node : list) {
      if (nodes_.size() >= next_child_)
        reader_.complain(node, "no earlier node refers to this node, as one must for every node except the first");
      if (const toml::table* const from = node.as_table())
        nodes_.push_back(from->contains("flows") ? leaf(*from) : branch(*from));
      else
        reader_.complain(node,
                         "a node must be a table: {flows = {...}} or {packet = 1, size = 60, up_to = 1, above = 2}");
      if (reader_.problem()) return {};
    }
    if (next_child_ != nodes_.size())
      reader_.complain(list, fmt::format("there are {} nodes, but nodes refer to {}", nodes_.size(), next_child_));
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
      reader_.complain(
          from,
          fmt::format("up_to must be {} and above must be {} here, because nodes are listed level by level, from 0",
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
      node.weights.push_back({id, reader_.number(*flows, name.str(), kFlowRange)});
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

std::string nodes_text(std::span<const DecisionTree::Node> nodes, std::span<const std::string> classes) {
  std::string toml = "nodes = [\n";
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const DecisionTree::Node& node = nodes[at];
    if (node.is_leaf()) {
      toml += "  {flows = {";
      for (const DecisionTree::Weight& weight : node.weights)
        toml += fmt::format("{}{} = {}", &weight == node.weights.data() ? "" : ", ", toml_string(classes[weight.id]),
                            weight.flows);
      toml += fmt::format("}}}},  # {}\n", at);
    } else {
      toml += fmt::format("  {{packet = {}, size = {}, up_to = {}, above = {}}},  # {}\n", node.packet + 1, node.up_to,
                          node.child, node.child + 1, at);
    }
  }
  return toml + "]\n";
}

std::vector<DecisionTree::Node> read_nodes(const toml::table& own, const ModelHead& head, ModelReader& reader) {
  const toml::array* const list = reader.list(own, "nodes");
  if (list == nullptr || reader.problem()) return {};
  return NodesReader(head, reader).read(*list);
}

}  // namespace parshall
