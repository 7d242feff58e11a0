// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/mona/gap_recovery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "lab/rivals/mona/packet_time.hpp"
#include "lab/tests/mona/graphs.hpp"

namespace parshall::lab {
namespace {

constexpr double kThreshold = 0.75;

/// Two trees below one lightest state: s1 and s2, each with a task of its own.
StateGraph two_tasks() { return *StateGraph::make({{"count", 0, 10}, {"s1", 0, 60}, {"s2", 0, 110}}); }

double cost_with(const StateGraph& graph, GapRecovery& recovery, Allocation adapted,
                 const std::vector<double>& packets) {
  recovery.apply(graph, packets, adapted);
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
}

TEST(GapRecovery, WhatWasNotReducedCannotComeBack) {
  const StateGraph graph = two_tasks();
  GapRecovery recovery(graph, {});
  const GapRecovery::Task gap[] = {{2, kThreshold, 0.9}, {4, kThreshold, 0.5}};
  EXPECT_FALSE(recovery.step(graph, gap, std::vector<double>{0, 100, 100}, Allocation(graph)));
  EXPECT_EQ(recovery.bias(1), 0) << "nobody could have used the time";
}

/// Packets drift, the rate and with it the shift swings, and recalls are any.
TEST(GapRecovery, NoTimeIsLostOrMadeWhereMixesAndShiftsMove) {
  SplitMix64 random(3);
  double moved_ns = 0;
  for (int world = 0; world < 20; ++world) {
    const StateGraph graph = any_graph(random);
    std::vector<double> packets = any_packets(random, graph.size());
    for (double& count : packets) count += 1000;
    GapRecovery recovery(graph, {});
    std::vector<GapRecovery::Task> tasks;
    for (int t = 0; t < 6; ++t) tasks.push_back({.states = random(), .threshold = kThreshold});
    Allocation adapted(graph);
    for (int window = 0; window < 1000; ++window) {
      for (GapRecovery::Task& task : tasks)
        if (window % 50 == 0 || !task.recall) task.recall = random.uniform();
      recovery.step(graph, tasks, packets, adapted);
      const double target = 0.55 + 0.4 * std::sin(window / 10.0);
      adapted.apply(graph, shift_to(graph, packets, target * graph.mean_cost_ns(packets)));
      Allocation in_force = adapted;
      recovery.apply(graph, packets, in_force);
      const double adapted_ns = adapted.mean_cost_ns(graph, packets);
      ASSERT_NEAR(in_force.mean_cost_ns(graph, packets), adapted_ns, 1e-9 * adapted_ns);
      for (std::size_t s = 0; s < graph.size(); ++s) packets[s] *= std::exp(0.03 * (random.uniform() - 0.5));
      const double next_ns = adapted.mean_cost_ns(graph, packets);
      ASSERT_NEAR(in_force.mean_cost_ns(graph, packets), next_ns, 0.01 * next_ns) << "the window it is in force for";
      for (std::uint8_t s = 0; s < graph.size(); ++s)
        moved_ns += std::abs(in_force.cost_ns(graph, s) - adapted.cost_ns(graph, s)) / graph[s].cost_ns / 20'000;
    }
  }
  EXPECT_GT(moved_ns, 0.5) << "or there was nothing to keep";
}

/// Two states of as many packets, of which the first has a task that is fine and the second one that is not.
struct Gap {
  StateGraph graph = two_tasks();
  std::vector<double> packets{0, 100, 100};
  Allocation adapted{graph};
  GapRecovery recovery;

  explicit Gap(GapRecovery::Options options = {}) : recovery(graph, options) {
    adapted.apply(graph, {.steps = 1, .share = 0.5});
  }
  /// What the first state gave in this window, of its packets.
  double gives(double rich, double poor = 0.1) {
    const double before = recovery.bias(1);
    const GapRecovery::Task tasks[] = {{2, kThreshold, rich}, {4, kThreshold, poor}};
    recovery.step(graph, tasks, packets, adapted);
    return before - recovery.bias(1);
  }
};

TEST(GapRecovery, AStepGrowsWhileMoreIsLeftThanItTookAndShrinksWhereNot) {
  Gap gap;
  EXPECT_NEAR(gap.gives(0.99), 0.005, 1e-12) << "the least: 0.0025 of all packets are 0.005 of the state's";
  EXPECT_NEAR(gap.gives(0.98), 0.01 * 0.995, 1e-12) << "of those that are left";
  const double before = gap.recovery.bias(1);
  EXPECT_NEAR(gap.gives(0.97), 0.02 * (1 + before), 1e-12);
  const double now = gap.recovery.bias(1);
  EXPECT_NEAR(gap.gives(0.85), 0.01 * (1 + now), 1e-12) << "0.1 is left, 0.12 went";
  const double last = gap.recovery.bias(1);
  EXPECT_NEAR(gap.gives(0.81), 0.02 * (1 + last), 1e-12) << "0.06 is left, 0.04 went";
}

TEST(GapRecovery, AStepIsNeverMoreThanTheLargestNorAPartOfTheStatesPackets) {
  Gap gap({.largest_step = 0.02, .largest_part = 1});
  for (int i = 0; i < 10; ++i) {
    const double left = 1 + gap.recovery.bias(1);
    ASSERT_LE(gap.gives(0.99), 0.04 * left + 1e-12);
    ASSERT_TRUE(i < 5 || std::abs(1 + gap.recovery.bias(1) - left * 0.96) < 1e-12) << i;
  }
  Gap few;
  few.packets = {0, 1, 199};
  for (int i = 0; i < 10; ++i) {
    const double left = 1 + few.recovery.bias(1);
    ASSERT_NEAR(few.gives(0.99), 0.1 * left, 1e-12) << "0.0025 of all are half of its own";
  }
}

/// Grown twice, then too large once: by each way to change it.
TEST(GapRecovery, AStepThatIsAddedToGrowsByWhatIsAddedAndSoDoesItShrink) {
  using enum GapRecovery::StepChange;
  for (const auto& [grows, shrinks, second, third, last] : {std::tuple{multiply, multiply, 0.02, 0.04, 0.02},
                                                            {multiply, add, 0.02, 0.04, 0.03},
                                                            {add, multiply, 0.02, 0.03, 0.015},
                                                            {add, add, 0.02, 0.03, 0.02}}) {
    Gap gap({.largest_part = 1, .first_step = 0.01, .added_step = 0.01, .grows = grows, .shrinks = shrinks});
    std::vector<double> steps;
    for (const double rich : {0.99, 0.98, 0.97, 0.85}) {
      const double left = 1 + gap.recovery.bias(1);
      steps.push_back(gap.gives(rich) / left / 2);  // the state has half of the packets
    }
    const std::array expected{0.01, second, third, last};
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(steps[i], expected[i], 1e-12) << i;
  }
}

TEST(GapRecovery, AStepStaysAsItIsWhereNoneIsTaken) {
  Gap gap;
  for (int i = 0; i < 20; ++i) gap.gives(0.99, 0.9);
  EXPECT_EQ(gap.recovery.bias(1), 0) << "none was poor";
  EXPECT_NEAR(gap.gives(0.99), 0.005, 1e-12);
  EXPECT_NEAR(gap.gives(0.99), 0.01 * 0.995, 1e-12);
  for (int i = 0; i < 20; ++i) gap.gives(i < 10 ? 0.76 : 0.99, 0.9);
  const double left = 1 + gap.recovery.bias(1);
  EXPECT_NEAR(gap.gives(0.99), 0.005 * left, 1e-12) << "halved for the step before, and only for that";
}

TEST(GapRecovery, AStepIsNeverLessThanTheLeast) {
  Gap gap;
  gap.gives(0.99);
  EXPECT_NEAR(gap.gives(0.81), 0.005 * 0.995, 1e-12) << "0.18 went, 0.06 is left";
}

TEST(GapRecovery, WhatIsNotInForceIsKeptForLater) {
  Gap gap;
  for (int i = 0; i < 8; ++i) gap.gives(0.99);
  const double given = gap.recovery.bias(1), taken = gap.recovery.bias(2);
  ASSERT_LT(given, -0.3);
  const Allocation shifted = std::exchange(gap.adapted, Allocation(gap.graph));
  for (int i = 0; i < 5; ++i) gap.gives(0.99, 0.9);
  Allocation none = gap.adapted;
  gap.recovery.apply(gap.graph, gap.packets, none);
  EXPECT_EQ(none, gap.adapted) << "no flow was reduced, so none can go back";
  gap.adapted = shifted;
  for (int i = 0; i < 5; ++i) gap.gives(0.99, 0.9);
  EXPECT_EQ(gap.recovery.bias(1), given);
  EXPECT_EQ(gap.recovery.bias(2), taken);
}

/// Three states that cost the same, of as many packets, above a lightest one that costs nothing.
struct Three {
  StateGraph graph = *StateGraph::make({{"count", 0, 0}, {"s1", 0, 100}, {"s2", 0, 100}, {"s3", 0, 100}});
  std::vector<double> packets{0, 100, 100, 100};
  Allocation adapted{graph};
  GapRecovery recovery;

  explicit Three(GapRecovery::Options options = {}) : recovery(graph, options) {
    adapted.apply(graph, {.steps = 1, .share = 0.5});
  }
  bool step(double one, double two, double three) {
    const GapRecovery::Task tasks[] = {{2, kThreshold, one}, {4, kThreshold, two}, {8, kThreshold, three}};
    return recovery.step(graph, tasks, packets, adapted);
  }
};

TEST(GapRecovery, AStateWithoutPacketsKeepsWhatItTook) {
  Three three({.least_step = 0.01});
  ASSERT_TRUE(three.step(0.99, 0.1, 0.76));
  const double taken = three.recovery.bias(2);
  ASSERT_GT(taken, 0);
  three.packets[2] = 0;
  ASSERT_TRUE(three.step(0.99, 0.76, 0.1));
  EXPECT_EQ(three.recovery.bias(2), taken);
}

TEST(GapRecovery, AStepChangesByWhatItDidAndNotByWhatOthersDo) {
  Gap gap;
  gap.gives(0.99), gap.gives(0.99), gap.gives(0.99);
  for (const double recall : {0.99, 0.85, 0.81}) gap.gives(recall, 0.9);  // it falls though nothing was given
  double left = 1 + gap.recovery.bias(1);
  EXPECT_NEAR(gap.gives(0.81), 0.04 * left, 1e-12) << "doubled for the last step, and not halved since";
  // A poor state that has use for next to nothing: a step of which a part was taken says little of a larger one.
  Gap other;
  other.packets = {0, 1000, 1};
  other.adapted.apply(other.graph, {.steps = 1, .share = 0.001});
  for (int i = 0; i < 5; ++i) {
    EXPECT_LT(other.gives(0.99), 0.001);
    const double share = 1 - 0.0005 * i;  // it is reduced once more, and useful again
    other.adapted.apply(other.graph, {.steps = 1, .share = 0.002 - 0.001 * share});
  }
  other.adapted.apply(other.graph, {.steps = 1, .share = 0.9});
  other.packets = {0, 100, 100};
  left = 1 + other.recovery.bias(1);
  EXPECT_NEAR(other.gives(0.99), 0.005 * left, 2e-5);
}

TEST(GapRecovery, AGiverThatBecamePoorTakesBackFirst) {
  Gap gap;
  while (gap.recovery.bias(1) > -0.5) gap.gives(0.99);
  EXPECT_GT(gap.recovery.bias(2), 0.15);
  double before = gap.recovery.bias(1);
  EXPECT_NEAR(gap.gives(0.5), -0.1, 1e-9) << "though the other is as poor";
  for (int i = 0; i < 10; ++i) {
    gap.gives(0.5);
    ASSERT_GE(gap.recovery.bias(1), before);
    before = gap.recovery.bias(1);
  }
  EXPECT_NEAR(before, 0, 1e-12) << "not more than it gave";
  EXPECT_NEAR(gap.recovery.bias(2), 0, 1e-12) << "none is rich: the other had to return it";
}

TEST(GapRecovery, RichStatesRepayAGiverBeforeTheyGiveToOthers) {
  Three three;
  while (three.recovery.bias(1) > -0.3) three.step(0.99, 0.1, 0.76);
  const double taken = three.recovery.bias(2), given = three.recovery.bias(1);
  EXPECT_NEAR(taken, -given, 1e-12) << "costs are alike";
  EXPECT_EQ(three.recovery.bias(3), 0);
  ASSERT_TRUE(three.step(0.7, 0.76, 0.99));
  EXPECT_NEAR(three.recovery.bias(1), given + 0.1, 1e-12);
  EXPECT_NEAR(three.recovery.bias(3), -0.0075, 1e-12) << "its least step";
  EXPECT_NEAR(three.recovery.bias(2), taken - 0.1 + 0.0075, 1e-12) << "what the rich one's step did not cover";
}

TEST(GapRecovery, AGiverIsRepaidNoMoreThanItGaveAndOthersHaveTheRest) {
  Three three({.least_step = 0.01});
  ASSERT_TRUE(three.step(0.99, 0.1, 0.99));
  ASSERT_NEAR(three.recovery.bias(1), -0.03, 1e-12);
  ASSERT_NEAR(three.recovery.bias(2), 0.06, 1e-12);
  ASSERT_TRUE(three.step(0.5, 0.1, 0.99));
  EXPECT_NEAR(three.recovery.bias(1), 0, 1e-12);
  EXPECT_NEAR(three.recovery.bias(3), -0.03 - 0.06 * 0.97, 1e-12) << "the rich one pays";
  EXPECT_NEAR(three.recovery.bias(2), 0.06 + 0.06 * 0.97 - 0.03, 1e-12);
}

TEST(GapRecovery, PoorStatesGetEqualPartsAsFarAsTheyHaveUseForIt) {
  const StateGraph graph = *StateGraph::make({{"count", 0, 0}, {"s1", 0, 100}, {"s2", 0, 100}, {"s3", 0, 100}});
  Allocation adapted(graph);
  adapted.apply(graph, {.steps = 1, .share = 0.5});
  const GapRecovery::Task tasks[] = {{2, kThreshold, 0.99}, {4, kThreshold, 0.1}, {8, kThreshold, 0.2}};
  const std::vector<double> packets{0, 500, 400, 100};
  GapRecovery recovery(graph, {.least_step = 0.01});
  ASSERT_TRUE(recovery.step(graph, tasks, packets, adapted));
  EXPECT_NEAR(recovery.bias(1), -0.02, 1e-12);
  EXPECT_NEAR(recovery.bias(2), 0.25 / 0.4 / 50, 1e-12) << "half of 0.5 ns of a mean packet";
  EXPECT_NEAR(recovery.bias(3), 0.25 / 0.1 / 50, 1e-12);
  const std::vector<double> few{0, 500, 499, 1};
  GapRecovery other(graph, {.least_step = 0.01});
  ASSERT_TRUE(other.step(graph, tasks, few, adapted));
  EXPECT_NEAR(other.bias(3), 1, 1e-12) << "0.05 ns are all it can use";
  EXPECT_NEAR(other.bias(2), 0.45 / 0.499 / 50, 1e-12);
  EXPECT_NEAR(other.bias(1), -0.02, 1e-12);
}

TEST(GapRecovery, AStateIsAsPoorAsItsWorstTaskInWhateverOrder) {
  for (const bool is_first : {false, true}) {
    Gap gap;
    GapRecovery::Task tasks[] = {{6, kThreshold, 0.9}, {4, kThreshold, 0.2}};
    if (is_first) std::swap(tasks[0], tasks[1]);
    ASSERT_TRUE(gap.recovery.step(gap.graph, tasks, gap.packets, gap.adapted));
    EXPECT_LT(gap.recovery.bias(1), 0);
    EXPECT_GT(gap.recovery.bias(2), 0);
  }
}

TEST(GapRecovery, HostileTasksAndShortSpansDoNothing) {
  Gap gap;
  const GapRecovery::Task tasks[] = {{~0ull, kThreshold, std::nan("")}, {~0ull, std::nan(""), 0.5}};
  EXPECT_FALSE(gap.recovery.step(gap.graph, tasks, gap.packets, gap.adapted));
  const GapRecovery::Task wide[] = {{~0ull << 2, kThreshold, 0.1}, {2, kThreshold, 0.9}};
  EXPECT_FALSE(gap.recovery.step(gap.graph, wide, std::span(gap.packets).first(2), gap.adapted)) << "none of the poor";
  EXPECT_TRUE(gap.recovery.step(gap.graph, wide, gap.packets, gap.adapted));
  gap.recovery.apply(gap.graph, {}, gap.adapted);
}

/// A world in which a task's recall is a power of the share of its flows that it sees.
class LostWorld {
 public:
  LostWorld(const StateGraph& graph, std::vector<double> packets, std::vector<double> powers, double target_ns)
      : graph_(graph), packets_(std::move(packets)), powers_(std::move(powers)), adapted_(graph) {
    adapted_.apply(graph, shift_to(graph, packets_, target_ns));
  }

  std::vector<double> recalls(GapRecovery& recovery) const {
    Allocation allocation = adapted_;
    recovery.apply(graph_, packets_, allocation);
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
      LostWorld world(graph, {0, 100, 100}, {0, frugal, 1}, target_ns);
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
}  // namespace parshall::lab
