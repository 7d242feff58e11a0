// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/result.hpp"
#include "compare/comparison.hpp"
#include "compare/record_set.hpp"

namespace parshall {

/// Returns why the flows of both cannot be compared: their taps had different settings. Nullopt: they can.
std::optional<Error> settings_problem(const std::string& up_name, const RecordSet& up, const std::string& down_name,
                                      const RecordSet& down);

/// Compares flows. Packets lost are the difference of the packets of all records of a key, so packets that were lost
/// and others that were duplicated cancel out. If a tap did not watch a flow from beginning to end, or lacks records,
/// the difference is counted as outside, not as lost.
///
/// With digests, flows are compared between the packets at which both taps cut; see compare_cuts(). Only packets before
/// the first cut and behind the last one can be outside then. Delays are exact means of what lost nothing, and those of
/// the cuts elsewhere; percentiles are those of the cuts, each of which stands for the packets of its record.
///
/// Without digests, delays are those of the first and last packets of flows of which both taps saw as many packets.
/// Flows that lost packets may have had longer ones.
Comparison compare(const RecordSet& up, const RecordSet& down);

}  // namespace parshall
