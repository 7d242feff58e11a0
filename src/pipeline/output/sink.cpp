// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "pipeline/output/csv.hpp"
#include "pipeline/output/json.hpp"
#include "pipeline/output/json_lines.hpp"
#include "pipeline/output/sorted_runs.hpp"
#include "pipeline/output/text.hpp"
#include "pipeline/output/text_table.hpp"
#include "pipeline/output/top_flows.hpp"

namespace parshall {
namespace {

constexpr SinkEntry kSinks[] = {
    {"text", "a summary and the top flows, for reading", 20, "packets", TextTable::memory_bytes(), make_text_sink},
    {"csv", "one line per flow", 0, "", 0, make_csv_sink},
    {"json", "one document, or one line per report with --every", 0, "", 0, make_json_sink},
    {"jsonl", "one JSON object per flow and event as they come, the summary last", 0, "", 0, make_json_lines_sink},
};

/// Which column that is.
Result<std::size_t> find_column(std::span<const ColumnInfo> columns, const std::string& name) {
  const auto found = std::ranges::find(columns, name, &ColumnInfo::name);
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  std::string known;
  for (const ColumnInfo& column : columns) known += (known.empty() ? "" : ", ") + column.name;
  return Error{
      fmt::format("cannot sort by \"{}\"; the columns of this report are {} (choose more with --stats)", name, known)};
}

}  // namespace

std::span<const SinkEntry> sink_registry() noexcept { return kSinks; }

std::optional<Error> sort_problem(std::span<const ColumnInfo> columns, const std::string& column) {
  if (column.empty()) return std::nullopt;
  auto found = find_column(columns, column);
  if (!found) return found.error();
  return std::nullopt;
}

Result<std::size_t> place_of(std::span<const ColumnInfo> columns, const std::string& column) {
  return find_column(columns, column.empty() ? "packets" : column);
}

Result<Report> sorted(Report report, const std::string& column, std::size_t top, std::optional<Error>* problem) {
  if (column.empty() && top == 0) return report;
  const auto by = place_of(report.columns, column);
  if (!by) return by.error();
  using Visit = std::function<void(const ReportFlow&)>;
  if (TopFlows::fits(top, report.asked().size())) {
    report.flows = [column = *by, top, flows = std::move(report.flows)](const Visit& visit) {
      TopFlows first(column, top);
      flows([&](const ReportFlow& flow) { first.offer(flow); });
      first.visit(visit);
    };
    return report;
  }
  const std::size_t columns = report.columns.size();
  report.flows = [column = *by, columns, top, problem, flows = std::move(report.flows)](const Visit& visit) {
    SortedRuns runs(column, columns, top, visit);
    flows([&](const ReportFlow& flow) { runs.offer(flow); });
    runs.finish();
    if (problem != nullptr) *problem = runs.problem();
  };
  return report;
}

std::uint64_t sorting_bytes(std::span<const ColumnInfo> columns, const std::string& column, std::size_t top) noexcept {
  if (column.empty() && top == 0) return 0;
  const std::size_t asked = columns.size() - kBaseColumns;
  return TopFlows::fits(top, asked) ? TopFlows::memory_bytes(top, asked) : SortedRuns::memory_bytes();
}

}  // namespace parshall
