// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "tester/flow_book.hpp"

namespace parshall::tester {

/// Computes the result of one flow by the definitions: stores everything, and compares each frame with each other.
/// `sent_ns`: when each frame of the flow was meant to be sent.
FlowResult by_definition(std::span<const Arrival> arrivals, std::span<const std::uint64_t> sent_ns);

/// Every number of a flow's result is as it should be.
void expect_same(const FlowResult& result, const FlowResult& expected);

}  // namespace parshall::tester
