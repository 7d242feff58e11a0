// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>

#include "tester/trial.hpp"

namespace parshall::tester {

/// Sends frames of the trace now and then until one comes back, so that a device that has to start, or to learn where
/// addresses are, is ready when a trial begins; then takes what else is still on its way.
///
/// Error: none came within `patience_ns`, or `stop` was asked.
/// Source: RFC 2544, section 23 (learning frames) and C.2.4.
std::optional<Error> wait_until_ready(std::shared_ptr<const Trace> trace, std::uint32_t streams, TrialEnds ends,
                                      std::uint64_t patience_ns, const std::function<bool()>& stop);

}  // namespace parshall::tester
