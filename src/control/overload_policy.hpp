// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "control/rate_forecast.hpp"
#include "control/task_choice.hpp"
#include "control/task_controller.hpp"

namespace parshall {

/// Decides at the end of each window which flows each task follows, so that as many tasks as possible find what they
/// want, and no packet is lost.
///
/// The work that was done tells what packets take, times one factor that is learnt. TaskChoice chooses; a choice
/// is installed if the present one takes too much time, or satisfies clearly fewer tasks. Flows come back by and by,
/// since the place in their connection must be found again.
///
/// Error:  packets can be lost in a window whose rate rises more steeply than in the one before, and where there is no
///         time even to count them.
class OverloadPolicy {
 public:
  struct Costs {
    double base_ns = 0;           ///< of every packet; above 0
    std::vector<double> part_ns;  ///< by part of the work
  };

  OverloadPolicy(std::size_t tasks, Costs costs);

  /// Ends a window; returns true if plan() changed.
  bool end_window(const TaskLoad& load, std::span<const FollowedTask> tasks) noexcept;

  const TaskChoice::Plan& plan() const noexcept { return now_; }
  bool gives_way() const noexcept { return gives_way_; }
  /// Returns the time that packets take, relative to what their work was told to.
  double factor() const noexcept { return factor_; }

 private:
  void learn(const TaskLoad& load) noexcept;
  bool rise(double budget_ns) noexcept;

  std::size_t count_;
  Costs costs_;
  TaskChoice choice_;
  RateForecast rate_;
  std::vector<double> packets_;  ///< by base state and weight: share of all, of late
  double factor_ = 1, flows_factor_ = 1;
  std::uint32_t by_keys_ = 0;  ///< bit i: task i adds up flows by a key
  bool is_first_ = true, gives_way_ = false;
  double since_choice_ns_ = 0;
  TaskChoice::Plan now_, target_;
};

}  // namespace parshall
