// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/output/records/column.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Identifies the exporter and run, and the number of exported records, which are numbered from 0.
struct ExportRun {
  std::string probe, run;
  std::uint64_t records = 0;
};

/// Returns a random name for this run, unique at the receiving end: 16 digits.
std::string new_run();

/// Column of the account, with its value.
struct AccountColumn {
  ColumnInfo info;
  Value value;
};

/// Returns the account as a record. In it, `counted_in_flows` equals the packets of all records written plus
/// `packets_not_sent`. `own` is the output that it goes to.
std::vector<AccountColumn> account_columns(const ReportSummary& summary, const OutputSummary& own,
                                           const ExportRun& run);

}  // namespace parshall
