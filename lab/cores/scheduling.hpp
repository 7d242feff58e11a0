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
#include "lab/cores/poll_gaps.hpp"

namespace parshall::lab {

/// A scheduling policy of the kernel for a whole run.
struct SchedulingPolicy {
  std::string_view name;
  std::string_view help;
  std::uint32_t policy;          ///< value for sched_setattr()
  std::uint32_t priority;        ///< value for sched_setattr()
  std::uint64_t runtime_ns = 0;  ///< time per period, if the policy guarantees a share; such threads cannot be pinned,
  std::uint64_t period_ns = 0;   ///< and cannot start threads

  bool shares() const noexcept { return runtime_ns != 0; }
};

/// Lists all policies.
std::span<const SchedulingPolicy> scheduling_policies() noexcept;

/// Sets the policy of the calling thread, and of threads that it starts later; not for policies that guarantee shares.
std::optional<Error> use_policy(const SchedulingPolicy& policy);

/// Returns the threads of this process.
std::vector<pid_t> threads_of_process();

/// Sets the policy of every thread of this process except `others`.
std::optional<Error> use_policy_but_for(const SchedulingPolicy& policy, std::span<const pid_t> others);

/// Returns why this process may not use a policy; nullopt if it may.
std::optional<Error> refused(const SchedulingPolicy& policy);

/// Returns the cores that this process may use.
std::vector<unsigned> usable_cores();

/// Measures the gaps of this many threads under the policy that poll without a pause for this long, on one core; on any
/// core if the policy guarantees shares.
Result<PollGaps> measure_gaps(const SchedulingPolicy& policy, unsigned core, std::size_t threads,
                              std::chrono::milliseconds how_long);

}  // namespace parshall::lab
