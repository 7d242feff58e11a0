// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "pipeline/output/exporter.hpp"
#include "pipeline/output/queue/sink.hpp"
#include "pipeline/output/recent_events.hpp"
#include "pipeline/output/records/top_flows.hpp"

namespace parshall {

/// Writes one report at the end, of the first flows by a column. Other flows are not kept.
class TopReport final : public FileExporter {
 public:
  /// `top` is how many.
  TopReport(std::unique_ptr<Output> output, std::unique_ptr<ReportSink> sink, FlowOrder order, std::size_t top)
      : FileExporter(std::move(output)), sink_(std::move(sink)), top_(order, top) {}

  void begin(std::span<const ColumnInfo> columns) override { columns_ = columns; }
  void records(std::span<const ReportFlow> batch) override;
  void event(const Event& event) override { events_.event(event); }
  void accounting(const ReportSummary& summary, const OutputSummary&) override { write(summary, *sink_, output()); }

  /// Writes the same report to another place.
  void write(const ReportSummary& summary, ReportSink& sink, Output& output);

 private:
  std::unique_ptr<ReportSink> sink_;
  std::span<const ColumnInfo> columns_;
  TopFlows top_;
  RecentEvents events_;
};

}  // namespace parshall
