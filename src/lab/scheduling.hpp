// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "lab/poll_gaps.hpp"

namespace parshall::lab {

/// A scheduling policy of the kernel for a whole run.
struct SchedulingPolicy {
  std::string_view name;
  std::string_view help;
  int policy;    ///< as sched_setscheduler() takes it
  int priority;  ///< likewise
};

/// Every one there is: one line each.
std::span<const SchedulingPolicy> scheduling_policies() noexcept;

/// Puts the calling thread, and the threads that it starts from here on, under a policy.
std::optional<Error> use_policy(const SchedulingPolicy& policy);

/// Why this process may not use a policy; nothing where it may.
std::optional<Error> refused(const SchedulingPolicy& policy);

/// Cores that this process may use.
std::vector<unsigned> usable_cores();

/// Of two threads under the policy that poll without a pause for so long, on one core.
Result<PollGaps> measure_gaps(const SchedulingPolicy& policy, unsigned core, std::chrono::milliseconds how_long);

}  // namespace parshall::lab
