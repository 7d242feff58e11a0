// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "compare/report/columns.hpp"
#include "pipeline/output/output.hpp"

namespace parshall {

/// Returns all but the flows as a JSON object: both points, the clocks, the totals of each way, and warnings. With
/// `intervals`, also what happened in each of them.
std::string summary_json(const Compared& compared, bool intervals);

/// Writes a JSON object with all of it and the flows.
void write_compared_json(const Compared& compared, std::span<const ComparedFlow* const> flows, Output& output);

/// Returns the flows as a JSON array.
std::string flows_json(const Compared& compared, std::span<const ComparedFlow* const> flows);

}  // namespace parshall
