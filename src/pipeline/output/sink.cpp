// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace parshall {
namespace {

constexpr SinkEntry kSinks[] = {
    {"text", "a summary and the top flows, for reading", 20, "packets", make_text_sink},
    {"csv", "one line per flow", 0, "", make_csv_sink},
    {"json", "one document, or one line per report with --every", 0, "", make_json_sink},
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

/// What the record says does not have to be kept twice.
struct Kept {
  Value key;
  FlowRecord record;
  std::vector<Value> asked;
};

}  // namespace

std::span<const SinkEntry> sink_registry() noexcept { return kSinks; }

std::optional<Error> sort_problem(std::span<const ColumnInfo> columns, const std::string& column) {
  if (column.empty()) return std::nullopt;
  auto found = find_column(columns, column);
  if (!found) return found.error();
  return std::nullopt;
}

Result<Report> sorted(Report report, const std::string& column, std::size_t top) {
  if (column.empty() && top == 0) return report;
  const auto by = find_column(report.columns, column.empty() ? "packets" : column);
  if (!by) return by.error();
  auto kept = std::make_shared<std::vector<Kept>>();
  const auto falling = [](const Kept& a, const Kept& b) { return a.key > b.key; };  // absent values last
  report.flows([&](const ReportFlow& flow) {
    const Value& key = flow.values[*by];
    if (top != 0 && kept->size() == top) {
      if (key <= kept->front().key) return;
      std::pop_heap(kept->begin(), kept->end(), falling);
      kept->pop_back();
    }
    const auto asked = flow.asked();
    kept->push_back({key, flow.record, {asked.begin(), asked.end()}});
    if (top != 0) std::push_heap(kept->begin(), kept->end(), falling);
  });
  std::stable_sort(kept->begin(), kept->end(), falling);
  report.flows = [kept](const std::function<void(const ReportFlow&)>& visit) {
    std::vector<Value> values;
    for (const Kept& flow : *kept) {
      values.resize(kBaseColumns);
      read_base_columns(flow.record, std::span(values).first<kBaseColumns>());
      values.insert(values.end(), flow.asked.begin(), flow.asked.end());
      visit({flow.record, values});
    }
  };
  return report;
}

}  // namespace parshall
