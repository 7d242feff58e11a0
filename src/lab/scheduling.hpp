// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
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
  std::uint32_t policy;          ///< as sched_setattr() takes it
  std::uint32_t priority;        ///< likewise
  std::uint64_t runtime_ns = 0;  ///< of every period, where the policy gives a share; such threads may not be pinned,
  std::uint64_t period_ns = 0;   ///< and may start no threads

  bool shares() const noexcept { return runtime_ns != 0; }
};

/// Every one there is: one line each.
std::span<const SchedulingPolicy> scheduling_policies() noexcept;

/// Puts the calling thread, and the threads that it starts from here on, under a policy that does not give shares.
std::optional<Error> use_policy(const SchedulingPolicy& policy);

/// Threads of this process.
std::vector<pid_t> threads_of_process();

/// Puts every thread of this process but `others` under a policy.
std::optional<Error> use_policy_but_for(const SchedulingPolicy& policy, std::span<const pid_t> others);

/// Why this process may not use a policy; nothing where it may.
std::optional<Error> refused(const SchedulingPolicy& policy);

/// Cores that this process may use.
std::vector<unsigned> usable_cores();

/// Of so many threads under the policy that poll without a pause for so long, on one core; on any, where the policy
/// gives shares.
Result<PollGaps> measure_gaps(const SchedulingPolicy& policy, unsigned core, std::size_t threads,
                              std::chrono::milliseconds how_long);

}  // namespace parshall::lab
