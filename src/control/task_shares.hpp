// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "control/task_prices.hpp"

namespace parshall {

/// Which tasks look at what, so that a packet takes no more than there is time for.
///
/// As many tasks as can be have the recall that they want in as many windows as can be: of those with the highest
/// priority first, and among equals those for which it takes least. Then the others have as much as there is time for,
/// in the same order; then those that have enough have more. Heavy flows are left out first where a task finds more by
/// it: their packets take most of the time, and bring few events. Or light ones, of which there are most.
///
/// Cost:   some 50 to 100 us for four tasks; nothing is allocated after the constructor.
/// Source: our own. MONA (Tangari et al., IEEE TNSM 2020) raises the task that is worst off, which is all of them
///         where there is not time for all.
class TaskShares {
 public:
  explicit TaskShares(std::size_t tasks) : shares_(tasks) {}

  /// One demand of each task, the same tasks each time, and what they take. How many have what they want in a window,
  /// on average.
  double choose(std::span<const TaskDemand> tasks, TaskPrices& prices, double budget_ns) noexcept;

  /// The same, for a third of the time; shares() mean nothing until the next choose().
  double satisfied_of(std::span<const TaskDemand> tasks, TaskPrices& prices, double budget_ns) noexcept;

  std::span<const TaskShare> shares() const noexcept { return shares_; }
  std::uint32_t satisfied() const noexcept { return satisfied_; }  ///< bit i: task i has what it wants
  bool fits() const noexcept { return fits_; }                     ///< false: even with no task at all it takes longer

 private:
  struct Search;

  struct Margin {
    double deviations;  ///< standard deviations above what is wanted
    double windows;     ///< in which chance leaves so much
  };
  static const std::array<Margin, 3> kMargins;

  struct Best {
    double deviations = 0, satisfied = -1;
  };
  Best best_margin(std::span<const TaskDemand> tasks, TaskPrices& prices, double budget_ns) noexcept;
  void satisfy(std::span<const TaskDemand> tasks, TaskPrices& prices, double budget_ns, double deviations) noexcept;

  std::vector<TaskShare> shares_;
  std::array<std::uint8_t, TaskWork::kMostTasks> order_{};  ///< tasks as they were satisfied, then the others
  std::uint32_t satisfied_ = 0;
  bool fits_ = true;
};

}  // namespace parshall
