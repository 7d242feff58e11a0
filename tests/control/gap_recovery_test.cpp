// SPDX-License-Identifier: Apache-2.0
#include "control/gap_recovery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "control/packet_time.hpp"
#include "graphs.hpp"

namespace parshall {
namespace {

constexpr double kThreshold = 0.75;

/// Two trees below one lightest state: s1 and s2, each with a task of its own.
StateGraph two_tasks() { return *StateGraph::make({{"count", 0, 10}, {"s1", 0, 60}, {"s2", 0, 110}}); }

double cost_with(const StateGraph& graph, const GapRecovery& recovery, Allocation adapted,
                 const std::vector<double>& packets) {
  recovery.apply(adapted);
  return adapted.mean_cost_ns(graph, packets);
}

TEST(GapRecovery, MovesTimeFromTheRichToThePoorAndMakesNone) {
  SplitMix64 random(1);
  int steps = 0, back = 0, given = 0;
  for (int i = 0; i < 3000; ++i) {
    const StateGraph graph = any_graph(random);
    if (graph.size() < 2) continue;
    const std::vector<double> packets = any_packets(random, graph.size());
    Allocation adapted(graph);
    adapted.apply(graph, shift_to(graph, packets, graph.mean_cost_ns(packets) * random.uniform()));
    GapRecovery recovery(graph, {});
    std::vector<GapRecovery::Task> tasks;
    for (std::size_t t = 0; t < 4; ++t)
      tasks.push_back({.states = random(), .threshold = kThreshold, .recall = random.uniform()});
    const double before_ns = cost_with(graph, recovery, adapted, packets);
    for (int window = 0; window < 20; ++window) {
      for (GapRecovery::Task& task : tasks) task.recall = random.uniform();
      steps += recovery.step(graph, tasks, packets, adapted);
      ASSERT_NEAR(cost_with(graph, recovery, adapted, packets), before_ns, 1e-9 * before_ns);
    }
    for (std::size_t s = 0; s < graph.size(); ++s) {
      ASSERT_LE(std::abs(recovery.bias(s)), 1 + 1e-12);
      back += recovery.bias(s) > 0, given += recovery.bias(s) < 0;
    }
  }
  EXPECT_GT(steps, 3000);
  EXPECT_GT(back, 1000);
  EXPECT_GT(given, 1000);
}

TEST(GapRecovery, DoesNothingWhereNoneIsPoorOrNoneIsRich) {
  const StateGraph graph = two_tasks();
  const std::vector<double> packets{0, 100, 100};
  Allocation adapted(graph);
  adapted.apply(graph, {.steps = 1, .share = 0.5});
  for (const auto& [one, other] : {std::pair{0.9, 0.85}, {0.5, 0.6}, {0.76, 0.5}}) {
    GapRecovery recovery(graph, {});
    const GapRecovery::Task tasks[] = {{2, kThreshold, one}, {4, kThreshold, other}};
    EXPECT_FALSE(recovery.step(graph, tasks, packets, adapted)) << one << ", " << other;
  }
  GapRecovery recovery(graph, {});
  const GapRecovery::Task unknown[] = {{2, kThreshold, std::nullopt}, {4, kThreshold, 0.5}};
  EXPECT_FALSE(recovery.step(graph, unknown, packets, adapted)) << "one that nobody knows of is not rich";
  const GapRecovery::Task half_known[] = {{2, kThreshold, std::nullopt}, {2, kThreshold, 0.9}, {4, kThreshold, 0.5}};
  EXPECT_FALSE(recovery.step(graph, half_known, packets, adapted)) << "nor where another task of it is fine";
  const GapRecovery::Task gap[] = {{2, kThreshold, 0.9}, {4, kThreshold, 0.5}};
  EXPECT_FALSE(recovery.step(graph, gap, std::vector<double>{0, 0, 0}, adapted)) << "without packets";
  EXPECT_TRUE(recovery.step(graph, gap, packets, adapted));
  recovery.forget();
  EXPECT_EQ(recovery.bias(1), 0);
}

TEST(GapRecovery, WhatDidNotGiveWayCannotComeBack) {
  const StateGraph graph = two_tasks();
  GapRecovery recovery(graph, {});
  const GapRecovery::Task gap[] = {{2, kThreshold, 0.9}, {4, kThreshold, 0.5}};
  EXPECT_FALSE(recovery.step(graph, gap, std::vector<double>{0, 100, 100}, Allocation(graph)));
  EXPECT_EQ(recovery.bias(1), 0) << "nobody could have used the time";
}

/// A world in which a task's recall is a power of the share of its flows that it sees.
class World {
 public:
  World(const StateGraph& graph, std::vector<double> packets, std::vector<double> powers, double target_ns)
      : graph_(graph), packets_(std::move(packets)), powers_(std::move(powers)), adapted_(graph) {
    adapted_.apply(graph, shift_to(graph, packets_, target_ns));
  }

  std::vector<double> recalls(const GapRecovery& recovery) const {
    Allocation allocation = adapted_;
    recovery.apply(allocation);
    std::vector<double> recalls;
    for (std::uint8_t state = 1; state < graph_.size(); ++state)
      recalls.push_back(std::pow(allocation.share(state, state), powers_[state]));
    return recalls;
  }

  void window(GapRecovery& recovery, SplitMix64& random, double noise) {
    std::vector<GapRecovery::Task> tasks;
    const std::vector<double> truth = recalls(recovery);
    for (std::size_t i = 0; i < truth.size(); ++i)
      tasks.push_back({.states = std::uint64_t{2} << i,
                       .threshold = kThreshold,
                       .recall = std::clamp(truth[i] + noise * (random.uniform() - 0.5), 0.0, 1.0)});
    recovery.step(graph_, tasks, packets_, adapted_);
  }

 private:
  const StateGraph& graph_;
  std::vector<double> packets_, powers_;
  Allocation adapted_;
};

TEST(GapRecovery, BringsAllTasksAboveTheirThresholdWhereThatCanBe) {
  SplitMix64 random(2);
  const StateGraph graph = two_tasks();
  for (const double target_ns : {52.0, 56.0, 60.0})
    for (const double frugal : {0.02, 0.1, 0.2}) {
      SCOPED_TRACE(std::to_string(target_ns) + " ns, power " + std::to_string(frugal));
      // The first task finds nearly all by a few of its flows; the second needs nearly all of its flows.
      World world(graph, {0, 100, 100}, {0, frugal, 1}, target_ns);
      GapRecovery recovery(graph, {});
      ASSERT_LT(world.recalls(recovery)[1], kThreshold);
      int windows = 0, below = 0, poor = 0;
      for (; windows < 400; ++windows) {
        world.window(recovery, random, 0.01);
        const std::vector<double> recalls = world.recalls(recovery);
        below += recalls[0] < kThreshold;
        poor += windows >= 100 && recalls[1] < kThreshold;
      }
      EXPECT_LE(below, windows / 100) << "the rich one";
      // The least time with which both are above, the rich one by its headroom.
      const double least_ns = (10 + 100 * kThreshold + 10 + 50 * std::pow(kThreshold + 0.05, 1 / frugal)) / 2;
      EXPECT_EQ(poor, target_ns > least_ns ? 0 : 300) << "the other, after a hundred windows";
    }
}

}  // namespace
}  // namespace parshall
