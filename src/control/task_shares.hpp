// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "control/task_prices.hpp"

namespace parshall {

/// Chooses the flows that tasks inspect, so that a packet takes no more than the time available.
///
/// As many tasks as possible get the recall they want in as many windows as possible: those of highest priority first,
/// and among equals the cheapest. Remaining time goes to the others in the same order, then to tasks that have enough
/// already. If a task finds more that way, heavy flows are left out first, since their packets take most of the time
/// and bring few events. Otherwise light flows may be, which are the most numerous.
///
/// Cost:   about 50 to 100 us for four tasks; nothing is allocated after the constructor.
/// Source: our own. MONA (Tangari et al., IEEE/ACM ToN 2020) raises the task that is worst off, which is every task if
///         there is not time for all.
class TaskShares {
 public:
  explicit TaskShares(std::size_t tasks) : shares_(tasks) {}

  /// Chooses shares. `tasks` has one demand for each task, the same tasks each time. Returns the mean number of
  /// satisfied tasks per window.
  double choose(std::span<const TaskDemand> tasks, TaskPrices& prices, double budget_ns) noexcept;

  /// Returns the same number in a third of the time; shares() are undefined until the next choose().
  double satisfied_of(std::span<const TaskDemand> tasks, TaskPrices& prices, double budget_ns) noexcept;

  std::span<const TaskShare> shares() const noexcept { return shares_; }
  std::uint32_t satisfied() const noexcept { return satisfied_; }  ///< bit i: task i has the recall it wants
  bool fits() const noexcept { return fits_; }                     ///< false: too slow even without tasks

 private:
  struct Search;

  struct Margin {
    double deviations;  ///< standard deviations above the wanted recall
    double windows;     ///< share of windows for which that is enough
  };
  static const std::array<Margin, 3> kMargins;

  struct Best {
    double deviations = 0, satisfied = -1;
  };
  Best best_margin(std::span<const TaskDemand> tasks, TaskPrices& prices, double budget_ns) noexcept;
  void satisfy(std::span<const TaskDemand> tasks, TaskPrices& prices, double budget_ns, double deviations) noexcept;

  std::vector<TaskShare> shares_;
  std::array<std::uint8_t, TaskWork::kMostTasks> order_{};  ///< tasks in the order of being satisfied, then others
  std::uint32_t satisfied_ = 0;
  bool fits_ = true;
};

}  // namespace parshall
