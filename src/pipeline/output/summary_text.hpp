// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "pipeline/output/report.hpp"

namespace parshall {

/// The accounting line: offered = what was lost, by cause, + rejected + counted, and whether it balances.
std::string accounting_line(const Accounting& accounting);

/// Classes that have flows, the one with the most packets first.
std::vector<const ClassSummary*> by_packets(const ReportSummary& summary);

/// What became of packets that were to go on.
std::string forwarding_line(const ForwardingSummary& forwarding);

/// Names what an output cannot say of, as " + 2 (5) unconfirmed"; empty where there is none.
std::string unconfirmed_text(const OutputSummary::Sum& sum);

/// The summary above the table of flows, some lines each ending in a newline.
std::string summary_text(const ReportSummary& summary);

}  // namespace parshall
