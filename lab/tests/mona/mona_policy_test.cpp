// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/mona/mona_policy.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace parshall::lab {
namespace {

/// Three states, each with one task more than the one before: none, the second part of the work, and also the third.
OverloadSetup three_states() {
  return {.tasks = 2,
          .base_ns = 50,
          .part_ns = {40, 60, 60},
          .flow_parts = 1,
          .lighter = {0, 0, 1},
          .parts_of_state = {0b001, 0b011, 0b111}};
}

std::vector<FollowedTask> mona_tasks() {
  std::vector<FollowedTask> tasks{{.states = 0b110, .parts = 0b011}, {.states = 0b100, .parts = 0b101}};
  for (FollowedTask& task : tasks) task.events[0].fill(10);
  return tasks;
}

/// Plays windows at this rate; returns the share of packets that the last one lost.
double play(OverloadPolicy& policy, double packets_per_window, int windows,
            const OverloadSetup& setup = three_states()) {
  double lost = 0;
  for (int window = 0; window < windows; ++window) {
    std::vector<double> packets(3 * FlowWeight::kClasses), done(3);
    double packet_ns = 0;
    for (std::size_t state = 0; state < 3; ++state) {
      const double second = state > 0 ? policy.share(0, state, 0) : 0,
                   third = state > 1 ? policy.share(1, state, 0) : 0;
      packet_ns += (setup.base_ns + 10 + second * 60 + third * 60) / 3;
      done[1] += second / 3, done[2] += third / 3;
    }
    const double counted = std::min(packets_per_window, 1e7 / packet_ns);
    lost = 1 - counted / packets_per_window;
    for (std::size_t state = 0; state < 3; ++state) packets[state * FlowWeight::kClasses] = counted / 3;
    for (double& times : done) times *= counted;
    policy.end_window({.window_ns = 1e7,
                       .busy_ns = counted * packet_ns,
                       .offered = static_cast<std::uint64_t>(packets_per_window),
                       .counted = static_cast<std::uint64_t>(counted),
                       .missed = static_cast<std::uint64_t>(packets_per_window - counted),
                       .packets = packets,
                       .done = done},
                      mona_tasks());
  }
  return lost;
}

TEST(MonaPolicy, MovesFlowsToLighterStatesAndBack) {
  for (const OverloadPolicyEntry& entry : mona_policies()) {
    const auto policy = entry.make(three_states());
    EXPECT_EQ(play(*policy, 50'000, 10), 0) << entry.name;
    EXPECT_FALSE(policy->state().is_reduced);
    EXPECT_EQ(policy->share(1, 2, 0), 1);
    EXPECT_LT(play(*policy, 110'000, 60), 0.01) << entry.name;
    EXPECT_TRUE(policy->state().is_reduced);
    EXPECT_LT(policy->share(1, 2, 0), 0.9) << entry.name;
    EXPECT_LE(policy->share(1, 2, 0), policy->share(0, 2, 0)) << "flows lose the task of the heaviest state first";
    EXPECT_EQ(policy->share(1, 1, 0), 0) << "the lighter state never had it";
    play(*policy, 50'000, 60);
    EXPECT_FALSE(policy->state().is_reduced) << entry.name;
  }
}

/// A step to a state that saves no time would only cost accuracy: here flows go from the last state to the first.
TEST(MonaPolicy, LeavesOutStepsThatSaveNoTime) {
  OverloadSetup setup = three_states();
  setup.parts_of_state[1] = setup.parts_of_state[2];
  MonaPolicy policy(setup, Controller::Mode::adapt);
  play(policy, 110'000, 60, setup);
  EXPECT_GT(policy.share(0, 2, 0), 0);
  EXPECT_LT(policy.share(0, 2, 0), 1);
  EXPECT_EQ(policy.share(0, 2, 0), policy.share(1, 2, 0)) << "no flow stops between";
}

}  // namespace
}  // namespace parshall::lab
