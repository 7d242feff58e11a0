// SPDX-License-Identifier: Apache-2.0
#include "control/task_prices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

constexpr std::size_t kOfWeight = FlowWeight::kClasses, kStates = 5, kParts = 6, kTasks = 4;

/// The definition, packet by packet of each state and weight.
double slow_ns(const std::vector<TaskDemand>& tasks, const std::vector<TaskShare>& shares, const TaskWork& work) {
  double all = 0, ns = 0;
  for (const double packets : work.packets) all += packets;
  for (std::size_t part = 0; part < work.part_ns.size(); ++part) {
    double times = 0, packets_of = 0;
    for (std::size_t at = 0; at < work.packets.size(); ++at) {
      const std::size_t state = at / kOfWeight, weight = at % kOfWeight;
      double done = part == 0 && (work.always >> state & 1) != 0 ? 1 : 0;
      for (std::size_t task = 0; task < tasks.size(); ++task) {
        if ((tasks[task].states >> state & 1) == 0 || (tasks[task].parts >> part & 1) == 0) continue;
        done = std::max(done, (tasks[task].fixed >> state & 1) != 0 ? 1 : shares[task].of_weight(weight));
      }
      packets_of += done * work.packets[at] / all;
      times += done * work.packets[at] / all * ((work.flow_parts >> part & 1) != 0 ? work.flows_per_packet[weight] : 1);
    }
    ns += times * work.part_ns[part];
    if ((work.mixed_parts >> part & 1) != 0) ns += 4 * packets_of * (1 - packets_of) * work.mixed_ns;
  }
  return work.base_ns + ns;
}

TEST(TaskPrices, AreWhatEachPacketTakes) {
  SplitMix64 random(3);
  const auto share_of = [&] {
    const auto from = static_cast<std::size_t>(random.below(kOfWeight));
    return TaskShare(random.uniform(), from, from + random.below(kOfWeight - from + 1), random.uniform());
  };
  TaskPrices prices;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<double> packets(kStates * kOfWeight), part_ns(kParts);
    for (double& of : packets) of = random.below(3) == 0 ? 0 : 1000 * random.uniform();
    for (double& ns : part_ns) ns = 80 * random.uniform();
    std::vector<TaskDemand> tasks(kTasks);
    std::vector<TaskShare> shares(kTasks);
    for (TaskDemand& task : tasks) {
      task.states = random.below(1u << kStates);
      task.fixed = random.below(3) == 0 ? task.states & random.below(1u << kStates) : 0;
      task.parts = static_cast<std::uint32_t>(random.below(1u << kParts));
    }
    for (TaskShare& share : shares) share = share_of();
    TaskWork work{.packets = packets, .base_ns = 60, .part_ns = part_ns};
    work.flow_parts = static_cast<std::uint32_t>(random.below(1u << kParts));
    for (double& flows : work.flows_per_packet) flows = random.uniform();
    work.mixed_parts = static_cast<std::uint32_t>(random.below(1u << kParts));
    work.mixed_ns = 7;
    work.always = random.below(1u << kStates);
    prices.set(tasks, work);
    EXPECT_NEAR(prices.packet_ns(shares), slow_ns(tasks, shares, work), 1e-9) << trial;
    for (std::size_t task = 0; task < kTasks; ++task) {
      prices.hold_but_for(task, shares);
      std::vector<TaskShare> others = shares;
      others[task] = share_of();
      EXPECT_NEAR(prices.packet_ns_with(others[task]), slow_ns(tasks, others, work), 1e-9) << trial << ", " << task;
    }
  }
}

TEST(TaskPrices, WithoutPacketsAreWhatEachTakesInAnyCase) {
  const std::vector<double> packets(kOfWeight), part_ns{50};
  std::vector<TaskDemand> tasks(1);
  tasks[0].states = tasks[0].parts = 1;
  const std::vector<TaskShare> shares(1);
  TaskPrices prices;
  prices.set(tasks, {.packets = packets, .base_ns = 60, .part_ns = part_ns});
  EXPECT_EQ(prices.packet_ns(shares), 60);
  prices.hold_but_for(0, shares);
  EXPECT_EQ(prices.packet_ns_with(TaskShare()), 60);
}

}  // namespace
}  // namespace parshall
