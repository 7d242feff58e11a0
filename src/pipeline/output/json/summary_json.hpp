// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Returns a report without its flows and events, as one JSON object in one line.
std::string summary_json(const ReportSummary& summary);

}  // namespace parshall
