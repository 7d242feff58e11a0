// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "lab/rivals/mona/state_graph.hpp"

namespace parshall::lab {

/// States of these costs. The one before each is its lighter state.
inline StateGraph chain(const std::vector<double>& costs_ns) {
  std::vector<StateGraph::State> states;
  for (std::size_t i = 0; i < costs_ns.size(); ++i)
    states.push_back({"s" + std::to_string(i + 1), static_cast<std::uint8_t>(i == 0 ? 0 : i - 1), costs_ns[i]});
  auto graph = StateGraph::make(states);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

/// Up to 64 states in any number of trees, numbered in any order.
inline StateGraph any_graph(SplitMix64& random) {
  const std::size_t count = 1 + random.below(64);
  std::vector<std::uint8_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = static_cast<std::uint8_t>(i);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<StateGraph::State> states(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_root = i == 0 || random.below(5) == 0;
    const std::uint8_t lighter = is_root ? order[i] : order[random.below(i)];
    const double cost_ns = is_root ? 50 * random.uniform() : states[lighter].cost_ns + 0.1 + 100 * random.uniform();
    states[order[i]] = {"s" + std::to_string(order[i]), lighter, cost_ns};
  }
  auto graph = StateGraph::make(states);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

inline std::vector<double> any_packets(SplitMix64& random, std::size_t states) {
  std::vector<double> packets(states);
  for (double& count : packets) count = random.below(4) == 0 ? 0 : static_cast<double>(random.below(1'000'000));
  packets[random.below(states)] += 1;
  return packets;
}

}  // namespace parshall::lab
