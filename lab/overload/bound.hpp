// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <span>
#include <vector>

#include "control/events_by_weight.hpp"
#include "lab/overload/traffic.hpp"

namespace parshall::lab {

inline constexpr double kRecall = 0.75;  ///< of a task's events, in a window in which it is satisfied

/// Flows of one base state and weight, in a window: what following all of them takes, and what it shows.
struct ClassInWindow {
  double rows_ns = 0, gaps_ns = 0, tcp_ns = 0, round_trips_ns = 0;
  std::array<std::array<double, kOverloadTasks>, kEventMeasures> events{};
};

/// A window of the link.
struct WindowWork {
  double free_ns = 0;  ///< time that counting all packets leaves; below 0 if there is too little even for that
  std::vector<ClassInWindow> classes;
};

/// Returns how many tasks are satisfied in the mean window, at most, if no packet is lost. The policy knows what comes.
/// At the beginning of each window it chooses, for each task, which share of each class the task follows. Work of up to
/// `queue_ns` may wait for the next window. Heavy hitters count as always satisfied.
///
/// Error:  an upper bound of the mean, since following a share of a class is taken to cost and to show that share. A
///         policy may find more by chance, or if it changes its mind within a window. Costs are bounded from below by
///         Lagrange multipliers: there are too many classes to try all sets of them, and shares are allowed.
double most_satisfied(std::span<const WindowWork> windows, EventMeasure measure, double queue_ns);

}  // namespace parshall::lab
