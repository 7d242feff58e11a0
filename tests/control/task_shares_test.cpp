// SPDX-License-Identifier: Apache-2.0
#include "control/task_shares.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace parshall {
namespace {

using ::testing::Each;
using ::testing::Eq;

constexpr std::size_t kClasses = FlowWeight::kClasses;
constexpr double kBaseNs = 10;

enum Part : std::uint32_t { kTcp, kIat, kRtt, kOwn };
constexpr std::array<double, 4> kPartNs{50, 8, 6, 12};

std::vector<double> packets_of(std::initializer_list<std::array<double, kClasses>> states) {
  std::vector<double> packets;
  for (const auto& state : states) packets.insert(packets.end(), state.begin(), state.end());
  return packets;
}
constexpr std::array<double, kClasses> kLight{1000};
/// Half of the packets are of flows of one weight.
constexpr std::array<double, kClasses> kHalfHeavy{500, 0, 0, 0, 0, 500};

TaskDemand task(std::uint32_t parts, std::uint64_t states = 1) {
  TaskDemand demand;
  demand.states = states;
  demand.parts = parts;
  demand.events = 1e9;  // chance plays no part
  demand.unlike = 0;
  demand.probe = 0;
  return demand;
}

struct Chosen {
  std::vector<TaskShare> shares;
  std::uint32_t satisfied;
  bool fits;
  double ns;
};
Chosen choose(const std::vector<TaskDemand>& tasks, const std::vector<double>& packets, double budget_ns) {
  const TaskWork work{packets, kBaseNs, kPartNs};
  TaskShares shares(tasks.size());
  TaskPrices prices;
  prices.set(tasks, work);
  shares.choose(tasks, prices, budget_ns);
  return {{shares.shares().begin(), shares.shares().end()},
          shares.satisfied(),
          shares.fits(),
          prices.packet_ns(shares.shares())};
}

TEST(TaskShares, AreAllWhereThereIsTime) {
  const auto packets = packets_of({kLight});
  const Chosen chosen = choose({task(1 << kTcp), task(1 << kIat)}, packets, 68);
  EXPECT_THAT(chosen.shares, Each(Eq(TaskShare())));
  EXPECT_EQ(chosen.satisfied, 3u);
  EXPECT_DOUBLE_EQ(chosen.ns, 68);
}

TEST(TaskShares, DoOnceWhatTasksShare) {
  const auto packets = packets_of({kLight});
  EXPECT_DOUBLE_EQ(choose({task(1 << kTcp), task(1 << kTcp | 1 << kRtt)}, packets, 1e9).ns, 10 + 50 + 6);
}

TEST(TaskShares, CostWhatTheStatesOfTheirFlowsDo) {
  const auto packets = packets_of({kLight, kLight, {2000}});
  EXPECT_DOUBLE_EQ(choose({task(1 << kTcp, 0b110), task(1 << kIat, 0b100)}, packets, 1e9).ns, 10 + 50 * 0.75 + 8 * 0.5);
}

TEST(TaskShares, GiveNoMoreThanThereIsTimeForAndNearlyAllOfIt) {
  const auto packets = packets_of({kLight});
  for (double budget_ns = 11; budget_ns < 80; budget_ns += 3) {
    const Chosen chosen = choose({task(1 << kTcp), task(1 << kIat), task(1 << kTcp | 1 << kRtt)}, packets, budget_ns);
    EXPECT_TRUE(chosen.fits);
    EXPECT_LE(chosen.ns, budget_ns + 1e-9);
    if (budget_ns < 74) {
      EXPECT_GE(chosen.ns, budget_ns - 1.2) << budget_ns;
    }
  }
}

TEST(TaskShares, SatisfyThreeWhereFourDoNotFit) {
  const auto packets = packets_of({kLight});
  // Each 12 ns by itself, so that 0.75 of all four takes 36, and 0.75 of three 27.
  std::vector<TaskDemand> tasks;
  const std::array<double, 4> part_ns{12, 12, 12, 12};
  for (std::uint32_t i = 0; i < 4; ++i) tasks.push_back(task(1u << i));
  TaskShares shares(4);
  TaskPrices prices;
  prices.set(tasks, {packets, kBaseNs, part_ns});
  shares.choose(tasks, prices, kBaseNs + 30);
  EXPECT_EQ(std::popcount(shares.satisfied()), 3);
  std::vector<double> recalls;
  for (std::size_t i = 0; i < 4; ++i) recalls.push_back(tasks[i].recall_with(shares.shares()[i]));
  std::ranges::sort(recalls);
  EXPECT_NEAR(recalls[0], 0.25, 0.01) << "what is left";
  EXPECT_NEAR(recalls[1], 0.75, 0.01);
}

TEST(TaskShares, SatisfyTheCheapestOfEquals) {
  const Chosen chosen = choose({task(1 << kTcp), task(1 << kIat), task(1 << kOwn)}, packets_of({kLight}), 10 + 8 + 12);
  EXPECT_EQ(chosen.satisfied, 0b110u);
}

TEST(TaskShares, SatisfyWhatHasPriorityThoughItTakesMore) {
  std::vector<TaskDemand> tasks{task(1 << kTcp), task(1 << kIat), task(1 << kOwn)};
  tasks[0].priority = 1;
  const Chosen chosen = choose(tasks, packets_of({kLight}), 10 + 0.75 * 50 + 3);
  EXPECT_EQ(chosen.satisfied, 0b001u);
  EXPECT_NEAR(chosen.shares[1].of_weight(0), 3.0 / 8, 0.01) << "the rest is the cheapest one's";
}

TEST(TaskShares, LeaveOutHeavyFlowsWhereLightOnesShowTheEvents) {
  std::vector<TaskDemand> tasks{task(1 << kTcp)};
  tasks[0].events_by_weight = {0.9, 0, 0, 0, 0, 0.1};
  const Chosen chosen = choose(tasks, packets_of({kHalfHeavy}), 10 + 0.5 * 50);
  EXPECT_EQ(chosen.satisfied, 1u);
  EXPECT_EQ(chosen.shares[0].of_weight(5), 0);
  EXPECT_NEAR(chosen.shares[0].of_weight(0), 1, 0.01) << "all light ones, for the same time";
}

TEST(TaskShares, KeepHeavyFlowsThatShowTheEvents) {
  std::vector<TaskDemand> tasks{task(1 << kTcp)};
  tasks[0].events_by_weight = {0.3, 0, 0, 0, 0, 0.7};
  const Chosen chosen = choose(tasks, packets_of({kHalfHeavy}), 10 + 0.8 * 50);
  EXPECT_EQ(chosen.satisfied, 1u);
  EXPECT_GT(chosen.shares[0].of_weight(5), 0.75);
}

TEST(TaskShares, LeaveOutLightFlowsOfWhichThereAreMost) {
  constexpr std::array<double, 1> kRowNs{80};
  std::array<double, kClasses> flows_per_packet{0.5};
  flows_per_packet.back() = 0.002;
  std::vector<TaskDemand> tasks{task(1)};
  tasks[0].by_keys = true;
  tasks[0].events_by_weight = {0.1, 0, 0, 0, 0, 0, 0, 0.9};
  const auto packets = packets_of({{500, 0, 0, 0, 0, 0, 0, 500}});
  TaskPrices prices;
  prices.set(tasks, {packets, kBaseNs, kRowNs, 1, flows_per_packet});
  TaskShares shares(1);
  shares.choose(tasks, prices, kBaseNs + 1);
  EXPECT_EQ(shares.satisfied(), 1u);
  EXPECT_EQ(shares.shares()[0].of_weight(0), 0);
  EXPECT_DOUBLE_EQ(shares.shares()[0].of_weight(1), 1) << "a key's flows are all its";
  EXPECT_DOUBLE_EQ(prices.packet_ns(shares.shares()), kBaseNs + 0.5 * 0.002 * 80);
  shares.choose(tasks, prices, kBaseNs + 0.5 * 0.5 * 80 + 1);
  EXPECT_TRUE(shares.shares()[0].is_all());
}

TEST(TaskShares, LookAtAFewOfAllFlowsSoThatItIsKnownWhatTheOthersDo) {
  std::vector<TaskDemand> tasks{task(1 << kTcp), task(1 << kOwn)};
  for (TaskDemand& demand : tasks) demand.probe = 1.0 / 32;
  tasks[0].events_by_weight = {1};
  tasks[1].by_keys = true;
  const Chosen chosen = choose(tasks, packets_of({kHalfHeavy}), 10 + 12 + 0.53 * 50);
  EXPECT_EQ(chosen.satisfied, 3u);
  EXPECT_DOUBLE_EQ(chosen.shares[0].of_weight(5), 1.0 / 32) << "of those left out, too";
  const Chosen little = choose(tasks, packets_of({kHalfHeavy}), 10 + 2);
  EXPECT_EQ(little.satisfied, 0u);
  EXPECT_GE(little.shares[0].of_weight(0), 1.0 / 32) << "though it is given up";
  EXPECT_EQ(choose(tasks, packets_of({kHalfHeavy}), 10 + 1).shares[0], TaskShare(0)) << "where there is time for that";
}

TEST(TaskShares, LeaveOutFlowsOfNoWeightWhereItIsNotKnownWhatTheyShow) {
  std::vector<TaskDemand> tasks{task(1 << kTcp)};
  tasks[0].knows_weights = false;
  tasks[0].events_by_weight = {0, 0, 0, 0, 0, 0, 0, 1};
  const Chosen chosen = choose(tasks, packets_of({kHalfHeavy}), 10 + 0.8 * 50);
  EXPECT_EQ(chosen.satisfied, 1u);
  for (std::size_t weight = 0; weight < kClasses; ++weight) EXPECT_GE(chosen.shares[0].of_weight(weight), 0.75);
}

TEST(TaskShares, SatisfyNoTaskThatWantsMoreThanThereIs) {
  std::vector<TaskDemand> tasks{task(1 << kTcp), task(1 << kOwn)};
  tasks[0].recall = 1.05;
  for (const double budget_ns : {30.0, 50.0, 200.0})
    EXPECT_EQ(choose(tasks, packets_of({kLight}), budget_ns).satisfied, 2u) << budget_ns;
}

TEST(TaskShares, ReckonWithRowsThatNoTaskCanGiveUp) {
  constexpr std::array<double, 1> kRowNs{80};
  std::vector<TaskDemand> tasks{task(1)};
  const auto packets = packets_of({kLight, kLight});
  TaskWork work{packets, kBaseNs, kRowNs};
  work.always = 0b10;
  TaskPrices prices;
  prices.set(tasks, work);
  const std::array<TaskShare, 1> none{TaskShare(0)};
  EXPECT_DOUBLE_EQ(prices.packet_ns(none), kBaseNs + 0.5 * 80);
  TaskShares shares(1);
  shares.choose(tasks, prices, kBaseNs + 0.4 * 80);
  EXPECT_FALSE(shares.fits());
}

TEST(TaskShares, TakeNothingOfStatesThatNeverGiveWay) {
  std::vector<TaskDemand> tasks{task(1 << kTcp, 0b11)};
  tasks[0].fixed = 0b01;
  const Chosen chosen = choose(tasks, packets_of({kLight, kLight}), 10 + 25 + 5);
  EXPECT_TRUE(chosen.fits);
  EXPECT_NEAR(chosen.ns, 40, 0.5);
  EXPECT_FALSE(choose(tasks, packets_of({kLight, kLight}), 30).fits);
}

TEST(TaskShares, SayWhereNoTaskAtAllTakesTooLong) {
  const Chosen chosen = choose({task(1 << kTcp)}, packets_of({kLight}), 9);
  EXPECT_FALSE(chosen.fits);
  EXPECT_EQ(chosen.satisfied, 0u);
  EXPECT_EQ(chosen.shares[0], TaskShare(0));
}

TEST(TaskDemand, AimsAtMoreWhereChanceHasItsWay) {
  TaskDemand demand;
  demand.recall = 0.75;
  demand.events = 1e9;
  demand.unlike = 0.03;
  EXPECT_NEAR(demand.recall_aimed_at(), 0.78, 1e-3);
  demand.events = 100;
  EXPECT_NEAR(demand.recall_aimed_at(), 0.78 + 1.3 * 0.0433, 1e-3);
  demand.events = 0;
  EXPECT_LT(demand.recall_aimed_at(), 1);
  demand.recall = 0.9;
  EXPECT_DOUBLE_EQ(demand.recall_aimed_at(), 1);
}

/// Against all choices on a grid: no set with more tasks satisfied fits.
TEST(TaskShares, SatisfyAsManyAsAnyChoiceDoes) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform;
  int fewer = 0;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> packets(2 * kClasses);
    for (double& count : packets) count = uniform(random);
    std::vector<TaskDemand> tasks;
    for (int i = 0; i < 3; ++i) {
      tasks.push_back(task(1 + static_cast<std::uint32_t>(random() % 15), 1 + random() % 3));
      auto& events = tasks.back().events_by_weight;
      for (double& share : events) share = uniform(random);
      const double sum = std::accumulate(events.begin(), events.end(), 0.0);
      for (double& share : events) share /= sum;
    }
    const double budget_ns = 10 + 60 * uniform(random);
    const Chosen chosen = choose(tasks, packets, budget_ns);
    EXPECT_LE(chosen.ns, budget_ns + 1e-9);
    std::vector<TaskShare> options{TaskShare(0)};
    for (std::size_t below = 1; below <= kClasses; ++below)
      for (double share = 0.1; share < 1.05; share += 0.1) options.push_back({std::min(1.0, share), 0, below});
    TaskPrices prices;
    prices.set(tasks, {packets, kBaseNs, kPartNs});
    int most = 0;
    for (const TaskShare& a : options)
      for (const TaskShare& b : options)
        for (const TaskShare& c : options) {
          const std::array<TaskShare, 3> shares{a, b, c};
          int satisfied = 0;
          for (std::size_t i = 0; i < 3; ++i) satisfied += tasks[i].recall_with(shares[i]) >= tasks[i].recall - 1e-9;
          if (satisfied > most && prices.packet_ns(shares) <= budget_ns) most = satisfied;
        }
    fewer += std::popcount(chosen.satisfied) < most;
  }
  EXPECT_LE(fewer, kTrials / 100) << "tasks that share parts can be cheaper together than one by one";
}

}  // namespace
}  // namespace parshall
