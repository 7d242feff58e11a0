// SPDX-License-Identifier: Apache-2.0
// Question: how long does a worker stand still for its overload policy at the end of a window? Unit: us of one
// end_window(). Packets take 1 to 2.2 times the time available, oscillating; each window has other counts. Reports the
// median, the 99th percentile and the mean.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "control/overload_policy.hpp"
#include "lab/rivals/mona/mona_policy.hpp"

namespace parshall::bench {
namespace {

constexpr double kWindowNs = 1e7, kPacketNs = 70, kPartNs = 50;
constexpr std::size_t kWindows = 20'000;

/// A chain of states; each has one task more than the one before, as far as there are tasks.
OverloadSetup setup_of(std::size_t states, std::size_t tasks) {
  OverloadSetup setup{.tasks = tasks, .base_ns = kPacketNs};
  setup.part_ns.assign(1 + tasks, kPartNs);
  setup.flow_parts = 1;
  for (std::size_t state = 0; state < states; ++state) {
    setup.lighter.push_back(static_cast<std::uint8_t>(state == 0 ? 0 : state - 1));
    setup.parts_of_state.push_back((2u << std::min(state * tasks / (states - 1), tasks)) - 1);
  }
  return setup;
}

std::vector<FollowedTask> tasks_of(const OverloadSetup& setup) {
  std::vector<FollowedTask> tasks(setup.tasks);
  for (std::size_t task = 0; task < setup.tasks; ++task) {
    for (std::size_t state = 0; state < setup.lighter.size(); ++state)
      tasks[task].states |= std::uint64_t{setup.parts_of_state[state] >> (task + 1) & 1} << state;
    tasks[task].parts = 1 | 2u << task;
    tasks[task].counts = 0b11;
    tasks[task].found = 0.6 + 0.08 * static_cast<double>(task % 5);
    for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) {
      tasks[task].flows[weight] = 4000 >> weight;
      tasks[task].events[0][weight] = tasks[task].flows[weight] / static_cast<double>(task + 2);
      tasks[task].events[1][weight] = 2 * tasks[task].events[0][weight];
    }
  }
  return tasks;
}

struct Took {
  double median_us, high_us, mean_us;
};

Took decisions(const OverloadPolicyEntry& entry, std::size_t states, std::size_t count, std::size_t windows) {
  const OverloadSetup setup = setup_of(states, count);
  const std::vector<FollowedTask> tasks = tasks_of(setup);
  const auto policy = entry.make(setup);
  SplitMix64 random(1);
  std::vector<double> took_us;
  for (std::size_t window = 0; window < windows; ++window) {
    const double load = 1.6 - 0.6 * std::cos(2 * std::numbers::pi * static_cast<double>(window) / 100);
    const double offered = load * kWindowNs / (kPacketNs + kPartNs / 2 * static_cast<double>(count));
    std::vector<double> packets(states * FlowWeight::kClasses), done(1 + count);
    for (double& of : packets) of = offered / static_cast<double>(packets.size()) * (0.9 + 0.2 * random.uniform());
    double busy_ns = offered * kPacketNs;
    done[0] = offered / 4;
    for (std::size_t task = 0; task < count; ++task)
      for (std::size_t i = 0; i < packets.size(); ++i)
        if ((tasks[task].states >> i / FlowWeight::kClasses & 1) != 0)
          done[1 + task] += packets[i] * policy->share(task, i / FlowWeight::kClasses, i % FlowWeight::kClasses);
    for (const double times : done) busy_ns += times * kPartNs;
    const double taken = offered * std::min(1.0, kWindowNs / busy_ns);
    const auto began = std::chrono::steady_clock::now();
    policy->end_window({.window_ns = kWindowNs,
                        .busy_ns = std::min(busy_ns, kWindowNs) * (0.98 + 0.04 * random.uniform()),
                        .offered = static_cast<std::uint64_t>(offered),
                        .counted = static_cast<std::uint64_t>(taken),
                        .missed = static_cast<std::uint64_t>(offered - taken),
                        .packets = packets,
                        .done = done,
                        .flows_per_packet = FlowWeight::kFlowsPerPacket},
                       tasks);
    took_us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count());
  }
  std::ranges::sort(took_us);
  return {took_us[windows / 2], took_us[windows * 99 / 100],
          std::accumulate(took_us.begin(), took_us.end(), 0.0) / static_cast<double>(windows)};
}

int run(bool smoke) {
  const std::size_t windows = smoke ? 100 : kWindows;
  fmt::print("\none decision of a policy, us\n  {:<10}  {:>6}  {:>5}  {:>7}  {:>7}  {:>7}\n", "policy", "states",
             "tasks", "median", "99 %", "mean");
  for (const OverloadPolicyEntry& entry : {overload_policies().front(), lab::mona_policies().front()})
    for (const auto& [states, tasks] : {std::pair{2, 1}, {5, 4}, {20, 4}, {64, 4}, {64, 5}}) {
      const Took took = decisions(entry, static_cast<std::size_t>(states), static_cast<std::size_t>(tasks), windows);
      fmt::print("  {:<10}  {:>6}  {:>5}  {:>7.1f}  {:>7.1f}  {:>7.1f}\n", entry.name, states, tasks, took.median_us,
                 took.high_us, took.mean_us);
    }
  return 0;
}

}  // namespace
}  // namespace parshall::bench

int main(int argc, char** argv) {
  const bool smoke = argc == 2 && std::strcmp(argv[1], "--smoke") == 0;
  if (argc > (smoke ? 2 : 1)) {
    fmt::print(stderr, "control: takes --smoke or nothing\n");
    return 2;
  }
  return parshall::bench::run(smoke);
}
