// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>

#include "tester/trial.hpp"

namespace parshall::tester {

/// Sends frames of the trace repeatedly until one comes back, then receives all that are still on their way. So a
/// device that must start, or learn addresses, is ready when a trial begins.
///
/// Error:  none came within `patience_ns`, or `stop` returned true.
/// Source: RFC 2544, section 23 (learning frames) and C.2.4.
std::optional<Error> wait_until_ready(std::shared_ptr<const Trace> trace, std::uint32_t streams, TrialEnds ends,
                                      std::uint64_t patience_ns, const std::function<bool()>& stop);

}  // namespace parshall::tester
