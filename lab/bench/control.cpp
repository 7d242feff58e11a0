// SPDX-License-Identifier: Apache-2.0
// Question: how long does a worker stand still for its controller at the end of a window? Unit: us of one end_window()
// that decides among chains of states. Packets take 1 to 2.2 times the time available, oscillating; each window has
// other counts. Reports the median and the 99th percentile.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "control/controller.hpp"

namespace parshall::bench {
namespace {

constexpr double kWindowNs = 1e7, kLightestNs = 65, kStateNs = 200;
constexpr std::size_t kWindows = 20'000;

StateGraph chain(std::size_t states) {
  std::vector<StateGraph::State> made;
  for (std::size_t i = 0; i < states; ++i)
    made.push_back({.name = std::to_string(i),
                    .lighter = static_cast<std::uint8_t>(i == 0 ? 0 : i - 1),
                    .cost_ns = kLightestNs + kStateNs * static_cast<double>(i) / static_cast<double>(states)});
  return *StateGraph::make(std::move(made));
}

/// Makes packets of all states equally, spread evenly over the weights of flows.
class Swing {
 public:
  explicit Swing(std::size_t states)
      : states_(states), base_(states), now_(states), weighed_(states * FlowWeight::kClasses), random_(1) {}

  WindowLoad next(const Controller& controller) {
    const double load = 1.6 - 0.6 * std::cos(2 * std::numbers::pi * static_cast<double>(window_++) / 100);
    const auto packets = static_cast<std::uint64_t>(load * kWindowNs / (kLightestNs + kStateNs / 2));
    std::ranges::fill(now_, 0.0);
    double busy_ns = 0;
    for (std::size_t base = 0; base < states_; ++base) {
      base_[base] = static_cast<double>(packets) / static_cast<double>(states_) * (0.9 + 0.2 * random_.uniform());
      for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight)
        weighed_[base * FlowWeight::kClasses + weight] = base_[base] / FlowWeight::kClasses;
      for (std::size_t state = 0; state < states_; ++state) {
        const double share =
            controller.allocation().share(static_cast<std::uint8_t>(base), static_cast<std::uint8_t>(state));
        now_[state] += share * base_[base];
        busy_ns += share * base_[base] * controller.graph().costs_ns()[state];
      }
    }
    const double counted = std::min(1.0, kWindowNs / busy_ns);
    const auto kept = static_cast<std::uint64_t>(counted * static_cast<double>(packets));
    return {.window_ns = kWindowNs,
            .busy_ns = std::min(busy_ns, kWindowNs) * (0.98 + 0.04 * random_.uniform()),
            .offered = packets,
            .counted = kept,
            .missed = packets - kept,
            .base_packets = base_,
            .packets = now_,
            .weighed_packets = weighed_};
  }

 private:
  std::size_t states_, window_ = 0;
  std::vector<double> base_, now_, weighed_;
  SplitMix64 random_;
};

/// Makes tasks, each for a part of the states.
std::vector<GapRecovery::Task> tasks_of(std::size_t states, std::size_t count) {
  std::vector<GapRecovery::Task> tasks;
  for (std::size_t task = 0; task < count; ++task) {
    std::uint64_t in = 0;
    for (std::size_t state = (task + 1) * states / (count + 1); state < states; ++state)
      in |= std::uint64_t{1} << state;
    tasks.push_back({.states = in, .threshold = 0.75, .recall = 0.6 + 0.08 * static_cast<double>(task % 5)});
    for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight)
      tasks.back().heavy_share[weight] = 1 / static_cast<double>(weight + 1);
  }
  return tasks;
}

struct Took {
  double median_us, high_us;
};

Took steps(std::size_t states, std::size_t tasks, std::size_t windows) {
  Controller controller(chain(states), {}, {});
  Swing swing(states);
  const auto recalls = tasks_of(states, tasks);
  std::vector<double> took_us;
  for (std::size_t i = 0; i < windows; ++i) {
    const WindowLoad load = swing.next(controller);
    const auto began = std::chrono::steady_clock::now();
    controller.end_window(load, recalls);
    took_us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count());
  }
  std::ranges::sort(took_us);
  return {took_us[windows / 2], took_us[windows * 99 / 100]};
}

int run(bool smoke) {
  const std::size_t windows = smoke ? 100 : kWindows;
  fmt::print("\none decision of the controller, us\n  {:>6}  {:>5}  {:>6}  {:>6}\n", "states", "tasks", "median",
             "99 %");
  for (const auto& [states, tasks] : {std::pair{2, 1}, {10, 4}, {20, 4}, {64, 4}, {64, 16}}) {
    const Took took = steps(static_cast<std::size_t>(states), static_cast<std::size_t>(tasks), windows);
    fmt::print("  {:>6}  {:>5}  {:>6.2f}  {:>6.2f}\n", states, tasks, took.median_us, took.high_us);
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
