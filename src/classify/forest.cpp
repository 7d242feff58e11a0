// SPDX-License-Identifier: Apache-2.0
#include "classify/forest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.hpp"
#include "classify/c45.hpp"
#include "classify/model_reader.hpp"
#include "classify/tree_text.hpp"

namespace parshall {
namespace {

constexpr std::size_t kBlock = 16;  // flows
constexpr std::uint64_t kDrawSeed = 1;
constexpr std::string_view kForestKeys[] = {"tree"}, kForestTreeKeys[] = {"nodes"};

/// Returns the captures that have flows.
std::vector<std::uint32_t> captures_of(const Samples& samples) {
  std::vector<std::uint32_t> captures = samples.captures;
  std::ranges::sort(captures);
  captures.erase(std::unique(captures.begin(), captures.end()), captures.end());
  return captures;
}

/// Draws captures with replacement, as many as there are. Returns how often each flow counts.
std::vector<std::uint32_t> drawn(const Samples& samples, std::span<const std::uint32_t> captures, SplitMix64& random) {
  std::vector<std::uint32_t> of_capture(samples.capture_names.size()), of_flow(samples.size());
  for (std::size_t draw = 0; draw < captures.size(); ++draw) ++of_capture[captures[random.below(captures.size())]];
  for (std::size_t flow = 0; flow < samples.size(); ++flow) of_flow[flow] = of_capture[samples.captures[flow]];
  return of_flow;
}

}  // namespace

Forest::Forest(ModelHead head, std::vector<DecisionTree> trees) : Model(std::move(head)), trees_(std::move(trees)) {
  for (const DecisionTree& tree : trees_) votes_.push_back(votes_of(tree));
}

Forest::Votes Forest::votes_of(const DecisionTree& tree) const {
  Votes votes;
  for (const DecisionTree::Node& node : tree.nodes()) {
    votes.begins.push_back(static_cast<std::uint32_t>(votes.all.size()));
    double flows = 0;
    for (const DecisionTree::Weight& weight : node.weights) flows += weight.flows;
    if (flows == 0) continue;
    for (const DecisionTree::Weight& weight : node.weights)
      votes.all.push_back({weight.id, weight.flows / flows / static_cast<double>(trees_.size())});
  }
  votes.begins.push_back(static_cast<std::uint32_t>(votes.all.size()));
  return votes;
}

std::size_t Forest::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const DecisionTree& tree : trees_) bytes += tree.memory_bytes();
  for (const Votes& votes : votes_)
    bytes += votes.begins.size() * sizeof votes.begins[0] + votes.all.size() * sizeof(Vote);
  return bytes;
}

void Forest::classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept {
  std::array<std::array<std::uint32_t, kBlock>, kMostTrees> leaves;
  std::array<double, kMostClasses> all;
  const auto shares = std::span(all).first(classes().size());
  for (std::size_t flow = 0; flow < ids.size(); flow += kBlock) {
    const std::size_t count = std::min(kBlock, ids.size() - flow);
    const auto now = sizes.subspan(flow * packets(), count * packets());
    for (std::size_t tree = 0; tree < trees_.size(); ++tree)
      trees_[tree].find_leaves(now, std::span(leaves[tree]).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      std::ranges::fill(shares, 0);
      for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        const Votes& votes = votes_[tree];
        for (std::uint32_t at = votes.begins[leaves[tree][i]]; at < votes.begins[leaves[tree][i] + 1]; ++at)
          shares[votes.all[at].id] += votes.all[at].share;
      }
      ids[flow + i] = most_likely(shares, reject());
    }
  }
}

void Forest::probabilities(std::span<const std::uint16_t> sizes, std::span<double> out) const {
  std::vector<double> of_tree(out.size());
  std::ranges::fill(out, 0);
  for (const DecisionTree& tree : trees_) {
    tree.probabilities(sizes, of_tree);
    for (std::size_t id = 0; id < out.size(); ++id) out[id] += of_tree[id] / static_cast<double>(trees_.size());
  }
}

std::unique_ptr<Model> Forest::train(const Samples& samples, const TrainingOptions& options) {
  Samples bounded = samples;
  bounded.cap(options.longest);
  ModelHead head{samples.packets, options.longest, options.reject, samples.class_names};
  const std::vector<std::uint32_t> captures = captures_of(samples);
  SplitMix64 random(kDrawSeed);
  std::vector<DecisionTree> trees;
  for (std::uint32_t tree = 0; tree < options.trees; ++tree)
    trees.emplace_back(head, grow_c45(bounded, drawn(bounded, captures, random), options));
  return std::make_unique<Forest>(std::move(head), std::move(trees));
}

std::string Forest::parameters() const {
  std::string toml = fmt::format("[{}]\n", kKind);
  for (const DecisionTree& tree : trees_)
    toml += fmt::format("[[{}.tree]]\n{}", kKind, nodes_text(tree.nodes(), classes()));
  return toml;
}

std::unique_ptr<Model> Forest::read(ModelHead head, ModelReader& reader) {
  const toml::table* const own = reader.table(reader.file(), kKind);
  if (own == nullptr) return nullptr;
  reader.check_keys(*own, kForestKeys);
  std::vector<DecisionTree> trees;
  reader.each(*own, "tree", [&](const toml::table& from) {
    reader.check_keys(from, kForestTreeKeys);
    std::vector<DecisionTree::Node> nodes = read_nodes(from, head, reader);
    if (!reader.problem()) trees.emplace_back(head, std::move(nodes));
  });
  if (!reader.problem() && (trees.empty() || trees.size() > kMostTrees))
    reader.complain(
        *own, fmt::format("there are {} trees, [[{}.tree]]; 1 to {} are possible", trees.size(), kKind, kMostTrees));
  if (reader.problem()) return nullptr;
  return std::make_unique<Forest>(std::move(head), std::move(trees));
}

}  // namespace parshall
