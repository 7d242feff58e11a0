// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "classify/model.hpp"

namespace parshall {

class ModelReader;

/// Tree of questions "is the size of this packet at most so many bytes?", with the training flows that reached each
/// leaf.
///
/// Shape:  8 bytes for each node, level by level, the two children of a node side by side.
/// Cost:   as many steps as the tree is deep; several flows descend together.
/// Source: Quinlan, C4.5: Programs for Machine Learning, 1993, chapters 2 and 3.
class DecisionTree final : public Model {
 public:
  static constexpr std::string_view kKind = "c45";

  struct Weight {
    ClassId id;
    double flows;  ///< may include fractions of flows, whose size was missing above

    friend bool operator==(const Weight&, const Weight&) = default;
  };

  struct Node {
    std::uint16_t packet = 0, up_to = 0;
    std::uint32_t child = 0;      ///< child for sizes up to that; the next node is for those above; 0: this is a leaf
    std::vector<Weight> weights;  ///< for a leaf, by ascending class

    bool is_leaf() const noexcept { return child == 0; }
    friend bool operator==(const Node&, const Node&) = default;
  };

  /// `nodes` are level by level, and children follow in the order of their parents. up_to is below longest.
  DecisionTree(ModelHead head, std::vector<Node> nodes);

  /// Reads a tree. Returns null, with a complaint, if it is malformed.
  static std::unique_ptr<Model> read(ModelHead head, ModelReader& reader);

  std::span<const Node> nodes() const noexcept { return nodes_; }
  ClassId class_of(std::size_t leaf) const noexcept { return class_[leaf]; }  ///< kUnknownClass for other nodes

  std::string_view kind() const noexcept override { return kKind; }
  std::size_t memory_bytes() const noexcept override {
    return nodes_.size() * (sizeof(Node) + sizeof(double) + sizeof(Step) + sizeof(ClassId));
  }
  std::string parameters() const override;
  void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept override;

  /// Finds the leaf of each flow, as an index of nodes(). `sizes` is as in classify().
  void find_leaves(std::span<const std::uint16_t> sizes, std::span<std::uint32_t> leaves) const noexcept;

  /// Computes probabilities from the weights in leaves. Where a size is missing, both children count, in proportion to
  /// their training flows.
  void probabilities(std::span<const std::uint16_t> sizes, std::span<double> out) const override;

 private:
  /// Step of a descent. A leaf leads to itself, since no size is above its up_to.
  struct Step {
    std::uint16_t packet, up_to;
    std::uint32_t child;
  };

  template <std::size_t Flows>
  void descend(const std::uint16_t* sizes, std::uint32_t* leaves) const noexcept;

  std::vector<Node> nodes_;
  std::vector<double> flows_;   // training flows that reached each node
  std::vector<Step> steps_;     // indexed by node
  std::vector<ClassId> class_;  // class of each leaf
};

}  // namespace parshall
