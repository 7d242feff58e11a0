// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "control/overload_policy.hpp"
#include "control/rate_forecast.hpp"
#include "control/task_choice.hpp"

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
class AdaptivePolicy final : public OverloadPolicy {
 public:
  explicit AdaptivePolicy(OverloadSetup setup);

  bool end_window(const ControlWindow& window, std::span<const FollowedTask> tasks) noexcept override;
  double share(std::size_t task, std::size_t, std::size_t weight) const noexcept override {
    return now_.shares[task][weight];
  }
  OverloadState state() const noexcept override { return state_; }

  const TaskChoice::Plan& plan() const noexcept { return now_; }

 private:
  void learn(const ControlWindow& window) noexcept;
  bool rise(double budget_ns) noexcept;
  bool rest() noexcept;
  std::uint32_t given_up(std::span<const FollowedTask> tasks) const noexcept;

  OverloadSetup setup_;
  TaskChoice choice_;
  RateForecast rate_;
  std::vector<double> packets_;  ///< by base state and weight: share of all, of late
  double factor_ = 1;            ///< time that packets take, relative to what their work was told to
  double flows_factor_ = 1;
  std::uint32_t by_keys_ = 0;  ///< bit i: task i adds up flows by a key
  bool is_first_ = true;
  double since_choice_ns_ = 0;
  double chosen_used_ = 0;  ///< time that a packet took by the last choice, relative to the time there was
  TaskChoice::Plan now_, target_;
  OverloadState state_;
};

}  // namespace parshall
