// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "tester/device/scenario.hpp"

namespace parshall::tester {

/// A router whose way out has a rate, and a queue for each flow: queues send in turns, as many bytes each, so that a
/// flow below its max-min fair share of the rate loses nothing, and all others get that share.
///
/// Settings: rate, in bit/s of frames without check sequence; flows, of which each has a queue of its own (as they come
///           first: later ones share); limit, packets of a queue; quantum, bytes of a turn.
/// Error: a flow's turn is over with the frame that reaches the quantum, so that below the longest frame's length turns
///        are of one frame each, whatever its length. Queues that hold less than a quantum lose what their flows send
///        in a round of turns. Where the machine holds up the timer for more than 20 ms, the rate is lower for so long,
///        and flows just below their share lose too. Flows share one where 32-bit hashes of their five-tuples are the
///        same: two of 1,000 in one set of 8,600.
/// Needs: tc(8) with HTB, whose classes have next to no rate of their own and borrow all of it in turns (deficit round
///        robin); nft(8), which tells flows apart: the 1,024 queues of fq_codel would have many flows share one.
/// Source: Shreedhar and Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM 1995.
Result<std::unique_ptr<Scenario>> fair_queue(const std::string& settings, const Stop& stop);

}  // namespace parshall::tester
