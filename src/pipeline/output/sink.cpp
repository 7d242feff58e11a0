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

/// What a column is sorted by; absent values come last.
using SortKey = std::function<std::optional<long double>(const ReportFlow&)>;  // holds every 64-bit counter

Result<SortKey> sort_key(std::span<const ReportColumn> columns, const std::string& name) {
  const std::pair<std::string_view, std::uint64_t FlowRecord::*> counters[] = {{"packets", &FlowRecord::packets},
                                                                               {"ip_bytes", &FlowRecord::ip_bytes},
                                                                               {"wire_bytes", &FlowRecord::wire_bytes},
                                                                               {"first_seen_ns", &FlowRecord::first_ns},
                                                                               {"last_seen_ns", &FlowRecord::last_ns}};
  std::string known;
  for (const auto& [counter, member] : counters) {
    if (counter == name)
      return SortKey([member = member](const ReportFlow& flow) {
        return std::optional(static_cast<long double>(flow.record.*member));
      });
    known += fmt::format("{}{}", known.empty() ? "" : ", ", counter);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name)
      return SortKey([i](const ReportFlow& flow) { return std::optional<long double>(flow.values[i]); });
    known += ", " + columns[i].name;
  }
  return Error{
      fmt::format("cannot sort by \"{}\"; the columns of this report are {} (choose more with --stats)", name, known)};
}

struct Kept {
  long double key;
  FlowRecord record;
  std::vector<std::optional<double>> values;
};

}  // namespace

std::span<const SinkEntry> sink_registry() noexcept { return kSinks; }

std::optional<Error> sort_problem(std::span<const ReportColumn> columns, const std::string& column) {
  if (column.empty()) return std::nullopt;
  auto key = sort_key(columns, column);
  if (!key) return key.error();
  return std::nullopt;
}

Result<Report> sorted(Report report, const std::string& column, std::size_t top) {
  if (column.empty() && top == 0) return report;
  auto key = sort_key(report.columns, column.empty() ? "packets" : column);
  if (!key) return key.error();
  auto kept = std::make_shared<std::vector<Kept>>();
  const auto falling = [](const Kept& a, const Kept& b) { return a.key > b.key; };
  report.flows([&](const ReportFlow& flow) {
    const long double value = (*key)(flow).value_or(-std::numeric_limits<long double>::infinity());
    if (top != 0 && kept->size() == top) {
      if (value <= kept->front().key) return;
      std::pop_heap(kept->begin(), kept->end(), falling);
      kept->pop_back();
    }
    kept->push_back({value, flow.record, {flow.values.begin(), flow.values.end()}});
    if (top != 0) std::push_heap(kept->begin(), kept->end(), falling);
  });
  std::stable_sort(kept->begin(), kept->end(), falling);
  report.flows = [kept](const std::function<void(const ReportFlow&)>& visit) {
    for (const Kept& flow : *kept) visit({flow.record, flow.values});
  };
  return report;
}

}  // namespace parshall
