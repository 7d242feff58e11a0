// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/queue/sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/suggestion.hpp"
#include "pipeline/output/files/csv.hpp"
#include "pipeline/output/json/json.hpp"
#include "pipeline/output/json/json_lines.hpp"
#include "pipeline/output/records/kept_texts.hpp"
#include "pipeline/output/records/schema.hpp"
#include "pipeline/output/records/sorted_runs.hpp"
#include "pipeline/output/records/top_flows.hpp"
#include "pipeline/output/text/text.hpp"
#include "pipeline/output/text/text_table.hpp"

namespace parshall {
namespace {

constexpr std::string_view kUsualOrder = "packets";

constexpr SinkEntry kSinks[] = {
    {"text", "a summary and the top flows, for reading", 20, kUsualOrder, TextTable::memory_bytes(), make_text_sink},
    {"csv", "one line per flow", 0, "", 0, make_csv_sink},
    {"json", "one document, or one line per report with --every", 0, "", 0, make_json_sink},
    {"jsonl", "one JSON object per flow and event as they end, the summary last", 0, "", 0, make_json_lines_sink},
};

/// Returns true for columns that flows are usually sorted by.
bool is_amount(const ColumnInfo& column) {
  return column.name == "packets" || column.name.ends_with("_bytes") || column.name.ends_with("_ns");
}

/// Says how a report gets a column to be sorted by, for the name of a statistic that adds exactly one; else nothing.
std::string sorting_hint(std::span<const ColumnInfo> columns, const std::string& name) {
  const auto more = Schema::make(std::array{name}, {});
  if (!more || more->asked().size() != 1) return {};
  const std::string& column = more->asked().front().name;
  if (std::ranges::find(columns, column, &ColumnInfo::name) != columns.end())
    return fmt::format("; it is called {} here", column);
  if (!begins_as_usual(columns)) return fmt::format("; to sort by it, add {} to --columns", column);
  return fmt::format("; to sort by it, give --columns +{} --sort {}", name, column);
}

/// Finds the index of a column.
Result<std::size_t> find_column(std::span<const ColumnInfo> columns, const std::string& name) {
  const auto found = std::ranges::find(columns, name, &ColumnInfo::name);
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  std::string hint = column_hint(name);
  if (hint.empty()) hint = sorting_hint(columns, name);
  if (hint.empty()) {
    std::vector<std::string> names;  // those that tell how much first
    for (const bool amounts : {true, false})
      for (const ColumnInfo& column : columns)
        if (is_amount(column) == amounts) names.push_back(column.name);
    hint = suggestion(name, names, "choose more with --columns");
  }
  return Error{fmt::format("--sort: this report has no column \"{}\"{}", name, hint)};
}

}  // namespace

std::span<const SinkEntry> sink_registry() noexcept { return kSinks; }

std::optional<Error> sort_problem(std::span<const ColumnInfo> columns, const std::string& column) {
  if (column.empty()) return std::nullopt;
  auto order = order_by(columns, column);
  if (!order) return order.error();
  return std::nullopt;
}

Result<FlowOrder> order_by(std::span<const ColumnInfo> columns, const std::string& column) {
  const bool is_usual = column.empty() || column == kUsualOrder;
  if (is_usual && std::ranges::find(columns, kUsualOrder, &ColumnInfo::name) == columns.end())
    return FlowOrder(columns, std::nullopt);
  const auto found = find_column(columns, is_usual ? std::string(kUsualOrder) : column);
  if (!found) return found.error();
  return FlowOrder(columns, *found);
}

Result<Report> sorted(Report report, const std::string& column, std::size_t top, std::optional<Error>* problem) {
  if (column.empty() && top == 0) return report;
  const auto by = order_by(report.columns, column);
  if (!by) return by.error();
  using Visit = std::function<void(const ReportFlow&)>;
  if (TopFlows::fits(top, report.asked().size())) {
    report.flows = [order = *by, top, flows = std::move(report.flows)](const Visit& visit) {
      TopFlows first(order, top);
      flows([&](const ReportFlow& flow) { first.offer(flow); });
      first.visit(visit);
    };
    return report;
  }
  const std::size_t columns = report.columns.size(), texts = room_for_texts(report.columns);
  report.flows = [order = *by, columns, texts, top, problem, flows = std::move(report.flows)](const Visit& visit) {
    SortedRuns runs(order, columns, top, visit, texts);
    flows([&](const ReportFlow& flow) { runs.offer(flow); });
    runs.finish();
    if (problem != nullptr) *problem = runs.problem();
  };
  return report;
}

std::uint64_t sorting_bytes(std::span<const ColumnInfo> columns, const std::string& column, std::size_t top) noexcept {
  if (column.empty() && top == 0) return 0;
  const std::size_t asked = columns.size() - columns_of_record(columns);
  return TopFlows::fits(top, asked) ? TopFlows::memory_bytes(top, asked, room_for_texts(columns))
                                    : SortedRuns::memory_bytes();
}

}  // namespace parshall
