// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "tester/flow_book.hpp"

namespace parshall::tester {

/// What a book of one flow has to say, by the definitions: everything stored, each frame compared with each.
/// `sent_ns`: when each frame of the flow was meant to be sent.
FlowResult by_definition(std::span<const Arrival> arrivals, std::span<const std::uint64_t> sent_ns);

/// Every number of a flow's result is as it should be.
void expect_same(const FlowResult& result, const FlowResult& expected);

}  // namespace parshall::tester
