// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/measure/family.hpp"

namespace parshall {

/// Counts a flow's packets by their TcpMarks: tcp_retransmissions and so on, with the names of the window fields.
///
/// Shape:  8 bytes for the packets that were tracked, and 4 for each requested count.
/// Cost:   packets are tracked by TcpConnections, as for tasks with such fields.
/// Error:  that of analyse_tcp(); absent for a flow that is not TCP or was never tracked.
/// Merge:  adds up.
extern const StatisticFamily kTcpTotalsFamily;

}  // namespace parshall
