// SPDX-License-Identifier: Apache-2.0
#include "lab/overload/bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace parshall::lab {
namespace {

constexpr TaskBits kFree = bit_of(OverloadTask::heavy_hitters);

using PerTask = std::array<double, kOverloadTasks>;

bool has(TaskBits tasks, std::size_t task) noexcept { return (tasks >> task & 1) != 0; }

/// Returns what it takes if these tasks follow all flows of the class.
double cost_ns(const ClassInWindow& of, TaskBits tasks) noexcept {
  if (tasks == 0) return 0;
  double ns = of.rows_ns;
  if ((tasks & bit_of(OverloadTask::bursty)) != 0) ns += of.gaps_ns;
  if ((tasks & kOfConnections) != 0) ns += of.tcp_ns;
  if ((tasks & bit_of(OverloadTask::latency_change)) != 0) ns += of.round_trips_ns;
  return ns;
}

/// Share of each task's events that a class shows, and its costs by set of tasks.
struct Class {
  PerTask shown{};
  std::array<double, kAllTasks + 1> ns{};
};

/// Returns a lower bound of the time in which all `wanted` tasks can be satisfied in the window.
double least_ns(std::span<const Class> classes, TaskBits wanted) {
  constexpr int kSteps = 200;
  if (wanted == 0) return 0;
  double all_ns = 0;
  for (const Class& of : classes) all_ns += of.ns[wanted];
  PerTask price{};  // of the whole recall of each task, in ns
  double best = 0;
  for (int step = 0; step < kSteps; ++step) {
    double bound = 0;
    PerTask lacking{};
    for (std::size_t task = 0; task < kOverloadTasks; ++task)
      if (has(wanted, task)) {
        bound += price[task] * kRecall;
        lacking[task] = kRecall;
      }
    for (const Class& of : classes) {
      double least = 0;
      TaskBits chosen = 0;
      for (TaskBits tasks = wanted; tasks != 0; tasks = static_cast<TaskBits>((tasks - 1) & wanted)) {
        double ns = of.ns[tasks];
        for (std::size_t task = 0; task < kOverloadTasks; ++task)
          if (has(tasks, task)) ns -= price[task] * of.shown[task];
        if (ns < least) {
          least = ns;
          chosen = tasks;
        }
      }
      bound += least;
      for (std::size_t task = 0; task < kOverloadTasks; ++task)
        if (has(chosen, task)) lacking[task] -= of.shown[task];
    }
    best = std::max(best, bound);
    double length = 0;
    for (const double lack : lacking) length += lack * lack;
    if (length < 1e-9) break;
    const double by = all_ns / (std::sqrt(length) * (1 + step));
    for (std::size_t task = 0; task < kOverloadTasks; ++task)
      price[task] = std::max(0.0, price[task] + by * lacking[task]);
  }
  return best;
}

/// Least time to satisfy as many tasks, beside those that are free.
using LeastByCount = std::array<double, kOverloadTasks>;

LeastByCount least_by_count(const WindowWork& window, EventMeasure measure) {
  const auto m = static_cast<std::size_t>(measure);
  PerTask events{};
  for (const ClassInWindow& of : window.classes)
    for (std::size_t task = 0; task < kOverloadTasks; ++task) events[task] += of.events[m][task];
  std::vector<Class> classes;
  for (const ClassInWindow& of : window.classes) {
    Class made;
    for (std::size_t task = 0; task < kOverloadTasks; ++task)
      made.shown[task] = events[task] > 0 ? of.events[m][task] / events[task] : 0;
    if (std::ranges::all_of(made.shown, [](double share) { return share == 0; })) continue;
    for (TaskBits tasks = 0; tasks <= kAllTasks; ++tasks) made.ns[tasks] = cost_ns(of, tasks);
    classes.push_back(made);
  }
  LeastByCount least;
  least.fill(std::numeric_limits<double>::infinity());
  for (TaskBits tasks = 0; tasks <= kAllTasks; ++tasks) {
    if ((tasks & kFree) != 0) continue;
    TaskBits wanted = 0;
    for (std::size_t task = 0; task < kOverloadTasks; ++task)
      if (has(tasks, task) && events[task] > 0) wanted |= static_cast<TaskBits>(1u << task);
    double& of_count = least[static_cast<std::size_t>(std::popcount(tasks))];
    of_count = std::min(of_count, least_ns(classes, wanted));
  }
  return least;
}

}  // namespace

double most_satisfied(std::span<const WindowWork> windows, EventMeasure measure, double queue_ns) {
  constexpr std::size_t kLevels = 64;  // of work that waits in the queue, rounded down
  constexpr double kNever = -1;
  if (windows.empty()) return 0;
  std::array<double, kLevels> satisfied;
  satisfied.fill(kNever);
  satisfied[0] = 0;
  for (const WindowWork& window : windows) {
    const LeastByCount least = least_by_count(window, measure);
    std::array<double, kLevels> next;
    next.fill(kNever);
    for (std::size_t level = 0; level < kLevels; ++level) {
      if (satisfied[level] == kNever) continue;
      const double waiting_ns = queue_ns * static_cast<double>(level) / kLevels;
      for (std::size_t count = 0; count < least.size(); ++count) {
        const double left_ns = std::max(0.0, waiting_ns + least[count] - window.free_ns);
        if (left_ns > queue_ns && count != 0) break;  // with none, packets may be lost
        const auto at = std::min(kLevels - 1, static_cast<std::size_t>(left_ns / queue_ns * kLevels));
        next[at] = std::max(next[at], satisfied[level] + 1 + static_cast<double>(count));
      }
    }
    satisfied = next;
  }
  return *std::ranges::max_element(satisfied) / static_cast<double>(windows.size());
}

}  // namespace parshall::lab
