// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/measure/family.hpp"

namespace parshall {

/// Counts a flow's packets that have a TCP flag: tcp_flags_syn and so on.
///
/// Shape:  8 bytes for each requested flag.
/// Cost:   an addition for each flag and packet.
/// Error:  none. Flows without TCP have counts of 0.
/// Merge:  adds up.
extern const StatisticFamily kFlagCountsFamily;

}  // namespace parshall
