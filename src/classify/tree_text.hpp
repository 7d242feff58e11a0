// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "classify/decision_tree.hpp"
#include "classify/model_reader.hpp"

namespace parshall {

/// Returns a tree's nodes as TOML: the key `nodes` of the table before it.
std::string nodes_text(std::span<const DecisionTree::Node> nodes, std::span<const std::string> classes);

/// Reads the nodes of a table with this key. Returns none, with a complaint, if they are malformed.
std::vector<DecisionTree::Node> read_nodes(const toml::table& own, const ModelHead& head, ModelReader& reader);

}  // namespace parshall
