// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/measure/family.hpp"

namespace parshall {

/// How many of a flow's packets were what within their TCP connection: tcp_retransmissions and so on, by the names that
/// fields of windows have.
///
/// Shape:  8 bytes for the packets that were followed, and 4 for each that was asked for.
/// Cost:   its packets are followed as tasks that look for such things follow them: TcpConnections.
/// Error:  analyse_tcp()'s; absent for a flow that is no TCP, or was never followed.
/// Merge:  adds up.
extern const StatisticFamily kTcpTotalsFamily;

}  // namespace parshall
