// SPDX-License-Identifier: Apache-2.0
#include "control/task_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.hpp"
#include "control/overload_policy.hpp"

namespace parshall {
namespace {

constexpr std::size_t kWeightsOfFlows = FlowWeight::kClasses;
constexpr std::size_t kRowsPart = 0, kTcpPart = 1;
using ByWeight = FollowedTask::ByWeight;

/// Traffic of one base state, whose tasks need rows and the following of connections.
struct GivenTraffic {
  std::vector<double> packets;
  std::vector<double> part_ns{50, 80};
  std::vector<FollowedTask> tasks;

  TaskWork work() const {
    return {.packets = packets,
            .base_ns = 70,
            .part_ns = part_ns,
            .flow_parts = 1u << kRowsPart,
            .flows_per_packet = {0.4, 0.09, 0.04, 0.02, 0.01, 0.006, 0.003, 0.001}};
  }
};

FollowedTask task_of(SplitMix64& random) {
  FollowedTask task{.states = 1, .parts = 1u << kRowsPart | 1u << kTcpPart};
  for (std::size_t weight = 0; weight < kWeightsOfFlows; ++weight) {
    task.flows[weight] = 1000 >> weight;
    task.events[0][weight] = random.uniform() * task.flows[weight];
    task.events[1][weight] = random.uniform() * task.flows[weight];
  }
  return task;
}

GivenTraffic given(SplitMix64& random, std::size_t tasks) {
  GivenTraffic made{.packets = std::vector<double>(kWeightsOfFlows), .tasks = {}};
  for (double& packets : made.packets) packets = 100 * random.uniform();
  for (std::size_t i = 0; i < tasks; ++i) made.tasks.push_back(task_of(random));
  return made;
}

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
  GivenTraffic of = given(random, TaskWork::kMostTasks);
  for (FollowedTask& task : of.tasks) task.counts = 0b11, task.priority = static_cast<int>(random.below(3));
  TaskChoice choice(of.tasks.size());
  choice.set(of.tasks, of.work());
  const double most_ns = choice.all().packet_ns;
  for (double share = 0.55; share < 1; share += 0.05) {
    const TaskChoice::Plan plan = choose(of, share * most_ns);
    EXPECT_LE(plan.packet_ns, share * most_ns + 1e-6);
  }
}

/// A worker whose packets take what is done for them, times a factor that nobody told the policy.
struct AdaptingWorker {
  GivenTraffic of;
  OverloadPolicy policy;
  double pps, factor;

  double step() {
    TaskChoice choice(of.tasks.size());
    choice.set(of.tasks, of.work());
    const double packet_ns = factor * choice.packet_ns(policy.plan());
    const double offered = pps * 0.01, counted = std::min(offered, 10e6 / packet_ns);
    std::vector<double> done;
    for (std::size_t part = 0; part < of.part_ns.size(); ++part)
      done.push_back(counted * choice.times(policy.plan(), part));
    policy.end_window({.window_ns = 10e6,
                       .busy_ns = counted * packet_ns,
                       .offered = static_cast<std::uint64_t>(offered),
                       .counted = static_cast<std::uint64_t>(counted),
                       .missed = static_cast<std::uint64_t>(offered - counted),
                       .packets = of.packets,
                       .done = done,
                       .flow_parts = 1u << kRowsPart,
                       .flows_per_packet = of.work().flows_per_packet},
                      of.tasks);
    return 1 - counted / offered;
  }
};

TEST(OverloadPolicy, LosesNothingAfterAFewWindowsWhateverPacketsTake) {
  SplitMix64 random(5);
  for (const double factor : {0.5, 1.0, 2.0}) {
    const GivenTraffic of = given(random, 3);
    TaskChoice choice(3);
    choice.set(of.tasks, of.work());
    const double most_pps = 1e9 / (factor * choice.all().packet_ns);
    AdaptingWorker worker{of, OverloadPolicy(3, {.base_ns = 70, .part_ns = of.part_ns}), 1.3 * most_pps, factor};
    for (int window = 0; window < 10; ++window) worker.step();
    double lost = 0;
    for (int window = 0; window < 20; ++window) lost += worker.step() / 20;
    EXPECT_LT(lost, 0.003) << factor;
    EXPECT_TRUE(worker.policy.gives_way());
    EXPECT_NEAR(worker.policy.factor(), factor, 0.05 * factor);
    const double less = worker.policy.plan().shares[0].front();
    worker.pps = 0.9 * most_pps;
    worker.step();
    if (less < 0.5) {
      EXPECT_LT(worker.policy.plan().shares[0].front(), 1) << "flows come back by and by";
    }
    for (int window = 0; window < 5; ++window) worker.step();  // within 50 ms of the end of the overload
    EXPECT_FALSE(worker.policy.gives_way()) << factor;
  }
}

}  // namespace
}  // namespace parshall
