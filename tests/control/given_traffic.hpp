// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "base/random.hpp"
#include "control/task_choice.hpp"

namespace parshall {

inline constexpr std::size_t kWeightsOfFlows = FlowWeight::kClasses;
inline constexpr std::size_t kRowsPart = 0, kTcpPart = 1;
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

inline FollowedTask task_of(SplitMix64& random) {
  FollowedTask task{.states = 1, .parts = 1u << kRowsPart | 1u << kTcpPart};
  for (std::size_t weight = 0; weight < kWeightsOfFlows; ++weight) {
    task.flows[weight] = 1000 >> weight;
    task.events[0][weight] = random.uniform() * task.flows[weight];
    task.events[1][weight] = random.uniform() * task.flows[weight];
  }
  return task;
}

inline GivenTraffic given(SplitMix64& random, std::size_t tasks) {
  GivenTraffic made{.packets = std::vector<double>(kWeightsOfFlows), .tasks = {}};
  for (double& packets : made.packets) packets = 100 * random.uniform();
  for (std::size_t i = 0; i < tasks; ++i) made.tasks.push_back(task_of(random));
  return made;
}

}  // namespace parshall
