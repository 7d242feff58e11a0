// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/groups/group_report.hpp"

#include <utility>

namespace parshall {

GroupReport::GroupReport(std::unique_ptr<Output> output, std::unique_ptr<ReportSink> sink, const GroupSchema& schema,
                         std::uint64_t most, std::uint64_t seed, Order order)
    : FileExporter(std::move(output)),
      sink_(std::move(sink)),
      schema_(schema),
      table_(schema, most, seed),
      order_(std::move(order)) {}

void GroupReport::records(std::span<const ReportFlow> batch) {
  for (const ReportFlow& flow : batch) table_.add({flow.record, flow.values});
}

void GroupReport::write(const ReportSummary& summary, ReportSink& sink, Output& output) {
  const RecentEvents::Events events = events_.all();
  Report report = report_of(summary, schema_, table_);
  report.events = events.latest;
  report.events_left_out = events.left_out;
  if (auto ordered = sorted(std::move(report), order_.column, order_.top)) sink.write(*ordered, output);
}

}  // namespace parshall
