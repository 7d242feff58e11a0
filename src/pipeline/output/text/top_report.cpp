// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/text/top_report.hpp"

namespace parshall {

void TopReport::records(std::span<const ReportFlow> batch) {
  for (const ReportFlow& flow : batch) top_.offer(flow);
}

void TopReport::write(const ReportSummary& summary, ReportSink& sink, Output& output) {
  const RecentEvents::Events events = events_.all();
  sink.write({.summary = summary,
              .columns = columns_,
              .flows = [this](const std::function<void(const ReportFlow&)>& visit) { top_.visit(visit); },
              .events = events.latest,
              .events_left_out = events.left_out},
             output);
}

}  // namespace parshall
