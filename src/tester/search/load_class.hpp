// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "tester/search/search_goal.hpp"
#include "tester/search/trial_outcome.hpp"

namespace parshall::tester {

/// RFC 9971, section 4.7.2.
enum class LoadClass : std::uint8_t {
  undecided,    ///< the trials up to now leave it open
  lower_bound,  ///< the goal is met, whatever the trials that are missing would say
  upper_bound,  ///< it is not, whatever they would say
};

/// What all trials at one load, of any duration, say of it. Durations count in whole nanoseconds, so that a share that
/// is exactly the exceed ratio is not taken for more.
/// Source: RFC 9971, appendix A.
LoadClass classify_load(std::span<const TrialOutcome> at_load, const SearchGoal& goal) noexcept;

/// What is forwarded at a lower bound in the worst of the trials that the goal does not let exceed. Nothing where no
/// trial is of full length. Source: RFC 9971, appendix B.
std::optional<double> conditional_throughput_pps(std::span<const TrialOutcome> at_load, const SearchGoal& goal);

}  // namespace parshall::tester
