// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/figures/figures.hpp"
#include "base/mean_interval.hpp"
#include "base/result.hpp"
#include "lab/rivals/mona/gap_recovery.hpp"

namespace parshall::lab {

/// How accuracy control changes its step.
struct StepPolicy {
  std::string_view name, help;
  GapRecovery::StepChange grows, shrinks;
};
std::span<const StepPolicy> step_policies() noexcept;

struct StepsSweep {
  static constexpr std::size_t kMostCases = 100'000;

  std::vector<const StepPolicy*> policies;
  std::vector<double> first_steps{0.0025, 0.01, 0.025, 0.1};  ///< shares of all packets
  double added_step = 0.01;                                   ///< likewise
  std::size_t cases = 5000;  ///< cases of states, tasks and load: the same for all policies and first steps
  double error = 0.02;       ///< standard deviation of estimated from true recall
  int rounds = 1;            ///< each with cases of its own
  std::uint64_t seed = 1;
};

/// One policy with one first step.
struct StepsRow {
  const StepPolicy* policy;
  double first_step;
  MeanInterval windows;        ///< until all tasks have enough for ten; for cases all policies reach
  MeanInterval reached_share;  ///< share of all cases, within 200 windows
  std::size_t cases = 0, reached_by_all = 0;
};

/// Simulates accuracy control (GapRecovery after algorithm 1 of MONA) from the moment when a constant load requires
/// reductions. There is time for all tasks to have enough, but adaptation alone does not achieve that. A task's recall
/// is a power of the share of its packets that its states still see, with a task-specific exponent.
///
/// Cost:   about 20 us for a policy, a first step and a case.
Result<std::size_t> measure_steps(const StepsSweep& sweep, const std::function<void(std::span<const StepsRow>)>& done,
                                  const std::function<bool()>& stop);

std::span<const Column> steps_columns() noexcept;
Part steps_part(std::span<const StepsRow> rows);

}  // namespace parshall::lab
