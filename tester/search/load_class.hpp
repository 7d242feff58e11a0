// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "tester/search/search_goal.hpp"
#include "tester/search/trial_outcome.hpp"

namespace parshall::tester {

/// Classification of a load; RFC 9971, section 4.7.2.
enum class LoadClass : std::uint8_t {
  undecided,    ///< the trials so far leave it open
  lower_bound,  ///< the goal is met, whatever the missing trials would show
  upper_bound,  ///< the goal is not met, whatever the missing trials would show
};

/// Classifies a load from all trials at it, of any duration. Durations count in whole nanoseconds, so that a share
/// equal to the exceed ratio does not count as more.
/// Source: RFC 9971, appendix A.
LoadClass classify_load(std::span<const TrialOutcome> at_load, const SearchGoal& goal) noexcept;

/// Returns the rate forwarded at a lower bound in the worst trial that the goal does not let exceed. Returns nullopt if
/// no trial has full length. Source: RFC 9971, appendix B.
std::optional<double> conditional_throughput_pps(std::span<const TrialOutcome> at_load, const SearchGoal& goal);

}  // namespace parshall::tester
