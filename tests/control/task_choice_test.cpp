// SPDX-License-Identifier: Apache-2.0
#include "control/task_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/control/given_traffic.hpp"

namespace parshall {
namespace {

TaskChoice::Plan choose(const GivenTraffic& of, double budget_ns) {
  TaskChoice choice(of.tasks.size());
  choice.set(of.tasks, of.work());
  TaskChoice::Plan now = choice.all();
  return choice.choose(budget_ns, now);
}

double recall_of(const FollowedTask& task, const ByWeight& shares, EventMeasure measure = EventMeasure::flows) {
  const ByWeight& events = task.events[static_cast<std::size_t>(measure)];
  return std::inner_product(events.begin(), events.end(), shares.begin(), 0.0) /
         std::accumulate(events.begin(), events.end(), 0.0);
}

TEST(TaskChoice, FitsWheneverItCanAndFollowsAllFlowsWhenThereIsTime) {
  SplitMix64 random(1);
  for (int i = 0; i < 200; ++i) {
    GivenTraffic of = given(random, 1 + random.below(4));
    for (FollowedTask& task : of.tasks) task.counts = static_cast<std::uint8_t>(1 + random.below(3));
    TaskChoice choice(of.tasks.size());
    choice.set(of.tasks, of.work());
    const double most_ns = choice.all().packet_ns;
    const double budget_ns = 70 + random.uniform() * (most_ns - 70);
    TaskChoice::Plan now = choice.all();
    const TaskChoice::Plan plan = choice.choose(budget_ns, now);
    EXPECT_LE(plan.packet_ns, budget_ns + 1e-6);
    EXPECT_NEAR(plan.packet_ns, choice.packet_ns(plan), 1e-6);
    for (std::size_t task = 0; task < of.tasks.size(); ++task)
      for (const double share : plan.shares[task]) {
        EXPECT_GE(share, 0);
        EXPECT_LE(share, 1);
      }
    EXPECT_EQ(choose(of, most_ns + 1e-6).shares, choice.all().shares);
  }
}

/// No set of weights that fits has more of the events; a few flows of the others are followed, too.
TEST(TaskChoice, FindsAsMuchAsAnySetOfWeightsDoes) {
  SplitMix64 random(2);
  for (int i = 0; i < 100; ++i) {
    const GivenTraffic of = given(random, 1);
    TaskChoice choice(1);
    choice.set(of.tasks, of.work());
    const double budget_ns = 75 + random.uniform() * (choice.all().packet_ns - 75);
    const double found = recall_of(of.tasks[0], choose(of, budget_ns).shares[0]);
    double most = 0;
    for (unsigned set = 0; set < 1u << kWeightsOfFlows; ++set) {
      TaskChoice::Plan plan;
      for (std::size_t weight = 0; weight < kWeightsOfFlows; ++weight)
        plan.shares[0][weight] = (set >> weight & 1) != 0 ? 1 : 1.0 / 32;
      if (choice.packet_ns(plan) <= budget_ns) most = std::max(most, recall_of(of.tasks[0], plan.shares[0]));
    }
    EXPECT_GE(found, most - 0.05) << i << " " << budget_ns << " of " << choice.all().packet_ns;
  }
}

TEST(TaskChoice, GivesUpTheTaskOfLowestPriorityAndNeverOneByKeys) {
  SplitMix64 random(3);
  for (int i = 0; i < 50; ++i) {
    GivenTraffic of = given(random, 3);
    of.tasks[0].by_keys = true;
    of.tasks[0].parts = 1u << kRowsPart;
    of.tasks[1].priority = 1;
    of.tasks[1].parts = 1u << kTcpPart;
    of.part_ns.push_back(80);
    of.tasks[2].parts = 1u << 2;  // shares nothing with the others
    const TaskChoice::Plan plan = choose(of, 150);
    EXPECT_GE(recall_of(of.tasks[0], plan.shares[0]), of.tasks[0].recall);
    const bool has_first = recall_of(of.tasks[1], plan.shares[1]) >= of.tasks[1].recall;
    EXPECT_TRUE(has_first || recall_of(of.tasks[2], plan.shares[2]) < of.tasks[2].recall) << i;
  }
}

TEST(TaskChoice, WithoutTimeForAnythingStillFollowsHeavyFlowsForKeys) {
  SplitMix64 random(4);
  GivenTraffic of = given(random, 2);
  of.tasks[0].by_keys = true;
  of.tasks[0].parts = 1u << kRowsPart;
  const TaskChoice::Plan plan = choose(of, 1);
  EXPECT_EQ(plan.shares[0].back(), 1);
  EXPECT_EQ(plan.shares[1], ByWeight{});
}

TEST(TaskChoice, WhereBothMeasuresCountHasEnoughByBoth) {
  GivenTraffic of{.packets = std::vector<double>(kWeightsOfFlows, 100),
                  .tasks = {FollowedTask{.states = 1, .parts = 1u << kTcpPart}}};
  FollowedTask& task = of.tasks[0];
  task.flows.fill(1000);
  task.events[0].front() = 100;  // flows that have events are light, and most events are of heavy ones
  task.events[1].front() = 100;
  task.events[1].back() = 900;
  const auto recalls = [&](std::uint8_t counts) {
    task.counts = counts;
    const TaskChoice::Plan plan = choose(of, 70 + 80 * 0.22);
    return std::pair(recall_of(task, plan.shares[0]), recall_of(task, plan.shares[0], EventMeasure::each));
  };
  EXPECT_LT(recalls(0b01).second, 0.75);
  EXPECT_GE(recalls(0b01).first, 0.75);
  EXPECT_GE(recalls(0b11).first, 0.75);
  EXPECT_GE(recalls(0b11).second, 0.75);
}

TEST(TaskChoice, GivesAllWeightsTheSameShareWhereTheyAreUnknown) {
  SplitMix64 random(6);
  GivenTraffic of = given(random, 2);
  for (FollowedTask& task : of.tasks) task.knows_weights = false;
  of.tasks[0].by_keys = true;
  of.tasks[0].parts = 1u << kRowsPart;
  const TaskChoice::Plan plan = choose(of, 130);
  EXPECT_EQ(plan.shares[0], TaskChoice(2).all().shares[0]) << "a share of flows says nothing of keys";
  EXPECT_GT(plan.shares[1].front(), 0.1);
  EXPECT_LT(plan.shares[1].front(), 1);
  for (const double share : plan.shares[1]) EXPECT_EQ(share, plan.shares[1].front());
  EXPECT_LE(plan.packet_ns, 130 + 1e-6);
}

TEST(TaskChoice, CountsFlowsThatAreAlwaysFollowedAsTimeThatIsGone) {
  SplitMix64 random(7);
  GivenTraffic of = given(random, 1);
  TaskChoice choice(1);
  choice.set(of.tasks, of.work());
  const double all_ns = choice.all().packet_ns;
  of.tasks[0].fixed = 1;
  choice.set(of.tasks, of.work());
  EXPECT_NEAR(choice.packet_ns({}), all_ns, 1e-9);
}

TEST(TaskChoice, KeepsATaskByKeysThoughGivingItUpWouldSaveMost) {
  SplitMix64 random(8);
  GivenTraffic of = given(random, 2);
  of.tasks[0].by_keys = true;
  of.tasks[0].parts = 1u << kTcpPart;
  of.tasks[1].parts = 1u << kRowsPart;  // much cheaper
  of.part_ns = {5, 80};
  const TaskChoice::Plan plan = choose(of, 140);
  EXPECT_GE(recall_of(of.tasks[0], plan.shares[0]), of.tasks[0].recall);
  for (const double share : plan.shares[0]) EXPECT_TRUE(share == 0 || share == 1) << share;
}

TEST(TaskChoice, FollowsAllOfFewFlowsOrOnlyProbesThem) {
  SplitMix64 random(9);
  for (int i = 0; i < 100; ++i) {
    GivenTraffic of = given(random, 1);
    of.tasks[0].flows.fill(5);
    const TaskChoice::Plan plan = choose(of, 80 + 60 * random.uniform());
    for (const double share : plan.shares[0]) EXPECT_TRUE(share == 1.0 / 32 || share == 1) << share;
  }
}

TEST(TaskChoice, ChargesRowsByFlowAndWhatIsAlwaysDone) {
  SplitMix64 random(10);
  GivenTraffic of = given(random, 1);
  of.packets.assign(kWeightsOfFlows, 0);
  of.packets[3] = 100;
  TaskChoice choice(1);
  TaskWork work = of.work();
  choice.set(of.tasks, work);
  EXPECT_NEAR(choice.all().packet_ns, 70 + 0.02 * 50 + 80, 1e-9);
  EXPECT_NEAR(choice.times(choice.all(), kRowsPart), 0.02, 1e-12);
  work.always = 1;
  choice.set(of.tasks, work);
  EXPECT_NEAR(choice.packet_ns({}), 70 + 0.02 * 50, 1e-9);
}

/// No adaptation satisfies the second task under this load, and the first never: so nothing is to be gained by the
/// second.
TEST(TaskChoice, SpendsTimeWhereNoAdaptationWouldNotDo) {
  SplitMix64 random(11);
  GivenTraffic of = given(random, 2);
  of.tasks[0].parts = 1u << kTcpPart;
  of.part_ns.push_back(80);
  of.tasks[1].parts = 1u << 2;
  of.tasks[1].events = of.tasks[0].events;
  of.tasks[0].loss_exponent = {9, 9};
  of.tasks[1].loss_exponent = {0.01, 0.01};
  const TaskChoice::Plan plan = choose(of, 70 + 0.36 * 160);
  EXPECT_EQ(plan.goals & 0b11u, 0b01u);
  EXPECT_GE(recall_of(of.tasks[0], plan.shares[0]), 0.75);
  EXPECT_LT(recall_of(of.tasks[1], plan.shares[1]), 0.75);
}

TEST(TaskChoice, TakesNoLongTimeForManyTasks) {
  SplitMix64 random(12);
  GivenTraffic of = given(random, FollowedTask::kMost);
  for (FollowedTask& task : of.tasks) task.counts = 0b11, task.priority = static_cast<int>(random.below(3));
  TaskChoice choice(of.tasks.size());
  choice.set(of.tasks, of.work());
  const double most_ns = choice.all().packet_ns;
  for (double share = 0.55; share < 1; share += 0.05) {
    const TaskChoice::Plan plan = choose(of, share * most_ns);
    EXPECT_LE(plan.packet_ns, share * most_ns + 1e-6);
  }
}

}  // namespace
}  // namespace parshall
