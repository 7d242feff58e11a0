// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "tester/device/scenario.hpp"

namespace parshall::tester {

/// A router whose output has a rate, and a queue for each flow. Queues send in rotation, the same number of bytes each.
/// So a flow below its max-min fair share of the rate loses nothing, and all others get that share.
///
/// Settings: `rate`, in bit/s of frames without check sequence; `flows`, the number of queues, assigned to flows as
///           they appear (later flows share); `limit`, packets of a queue; `quantum`, bytes per rotation.
/// Error:    a flow's turn ends with the frame that reaches the quantum. If the quantum is below the longest frame's
///           length, each turn is one frame, whatever its length. A queue that holds less than a quantum loses what its
///           flow sends during a rotation. If the machine delays the timer for more than 20 ms, the rate is lower for
///           that time, and flows just below their share lose too. Flows share a queue if 32-bit hashes of their
///           5-tuples are equal: two of 1,000 flows in one of 8,600 sets.
/// Needs:    tc(8) with HTB, whose classes have almost no rate of their own and borrow all of it in rotation (deficit
///           round robin). nft(8) separates flows: in the 1,024 queues of fq_codel, many flows would share one.
/// Source:   Shreedhar and Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM 1995.
Result<std::unique_ptr<Scenario>> fair_queue(const std::string& settings, const Stop& stop);

}  // namespace parshall::tester
