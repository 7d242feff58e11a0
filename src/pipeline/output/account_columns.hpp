// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/output/column.hpp"
#include "pipeline/output/report.hpp"

namespace parshall {

/// Who exports, and how many records it got: each has a number, from 0.
struct ExportRun {
  std::string probe, run;
  std::uint64_t records = 0;
};

/// Of this run, among all that are exported to one place: 16 digits.
std::string new_run();

/// A column of the account, and what it is.
struct AccountColumn {
  ColumnInfo info;
  Value value;
};

/// The account as a record that adds records up: `counted_in_flows` = packets of all records that were written, and
/// `packets_not_sent`. `own` is the output that it goes to.
std::vector<AccountColumn> account_columns(const ReportSummary& summary, const OutputSummary& own,
                                           const ExportRun& run);

}  // namespace parshall
