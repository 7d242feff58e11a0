// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Returns the accounting line: offered = losses by cause + rejected + counted, and whether it balances.
std::string accounting_line(const Accounting& accounting);

/// Returns the classes that have flows, the one with the most packets first.
std::vector<const ClassSummary*> by_packets(const ReportSummary& summary);

/// Returns the outcome of packets to be forwarded.
std::string forwarding_line(const ForwardingSummary& forwarding);

/// Returns the unconfirmed records, as " + 2 (5) unconfirmed"; empty if there are none.
std::string unconfirmed_text(const OutputSummary::Sum& sum);
/// Does the same for findings.
std::string unconfirmed_findings_text(const OutputSummary::Sum& sum);

/// Returns the summary above the table of flows, some lines, each with a newline.
std::string summary_text(const ReportSummary& summary);

}  // namespace parshall
